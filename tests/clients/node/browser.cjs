// Opens a page in Chromium and prints, as one line of JSON, what it did.
// Usage: node browser.cjs URL
"use strict";

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { chromium } = require("playwright-core");

const { left } = require("./left.cjs");

// Without these Chromium asks its maker's hosts for updates and the like.
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
// Longer than the redirect of the hostile page takes.
const SETTLE = 9_000;

async function main(url) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "browser-"));
  try {
    const log = path.join(folder, "net.json");
    const report = await visit(url, log);
    console.log(JSON.stringify({ ...report, lookups: lookups(log) }));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function visit(url, log) {
  const args = [...ARGS, `--log-net-log=${log}`];
  const options = { executablePath: "/usr/bin/chromium", args };
  // A profile of its own: without one Chromium looks up nothing ahead of need.
  const context = await chromium.launchPersistentContext(`${log}.profile`, options);
  const requests = left(context);
  const page = await context.newPage();
  await page.goto(url, { waitUntil: "load" });
  for (const frame of page.frames()) await click(frame);
  // On a busy machine a window that a click opened takes its time.
  for (const opened of context.pages()) await opened.waitForLoadState("load").catch(() => {});
  await page.waitForTimeout(SETTLE);
  const frames = await Promise.all(page.frames().map(look));
  const urls = await requests(url);
  await context.close();
  return { requests: urls, frames: frames.filter(Boolean) };
}

// The names of hosts that the browser looked up or connected to, by its own log. A log that was not
// closed lacks its end.
function lookups(log) {
  const names = fs.readFileSync(log, "utf8").matchAll(/"host":"(?:[a-z]+:\/\/)?([^"]*)"/g);
  return [...new Set([...names].map((name) => name[1]))];
}

// Clicks what a hostile page hopes will be clicked. A frame may be gone by then.
async function click(frame) {
  try {
    for (const target of await frame.$$(".click")) {
      await target.dispatchEvent("click");
      // The next one would end what this one begins.
      await frame.waitForTimeout(50);
    }
  } catch {}
}

function look(frame) {
  const looked = frame.evaluate(() => ({
    url: location.href,
    title: document.title,
    text: document.body.innerText,
    ran: document.documentElement.dataset.ran ?? "",
    images: Object.fromEntries(
      [...document.images].filter((image) => image.id).map((image) => [image.id, image.naturalWidth]),
    ),
  }));
  return looked.catch(() => null);
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
