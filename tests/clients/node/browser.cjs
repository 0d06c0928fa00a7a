// Opens a page in Chromium and prints, as one line of JSON, what it did.
// Usage: node browser.cjs URL
"use strict";

const { chromium } = require("playwright-core");

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
const SETTLE = 4_000;

async function main(url) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGS });
  const context = await browser.newContext();
  const requests = new Set();
  context.on("request", (request) => requests.add(request));
  // What a policy holds back is a request too, but it does not leave the browser. What leaves it
  // and fails has an error of the network.
  context.on("requestfailed", (request) => {
    if (!request.failure().errorText.startsWith("net::")) requests.delete(request);
  });
  const page = await context.newPage();
  await page.goto(url, { waitUntil: "load" });
  for (const frame of page.frames()) await click(frame);
  await page.waitForTimeout(SETTLE);
  const frames = await Promise.all(page.frames().map(look));
  const urls = [...requests].map((request) => request.url());
  console.log(JSON.stringify({ requests: urls, frames: frames.filter(Boolean) }));
  await browser.close();
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
