// What the journeys through the web console share: a browser that keeps count, and a person who signs in.
"use strict";

const { chromium } = require("playwright-core");
const nodemailer = require("nodemailer");

const { left } = require("./left.cjs");

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
const EMAIL = "ada@example.com";
const PASSWORD = "correct horse battery";

// What happened on the way: clicks and keys, and what must be empty at its end.
const report = { clicks: 0, keys: 0, requests: [], errors: [], violations: [] };

// A browser, a page in it, and what ends both.
async function open(options = { viewport: { width: 1280, height: 800 } }) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGS });
  const context = await browser.newContext(options);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await context.addInitScript(() => {
    window.violations = [];
    // What the page says stands there for a moment only, so it is written down.
    window.said = new Set();
    new MutationObserver(() => {
      const places = document.querySelectorAll('[role="status"]');
      places.forEach((place) => window.said.add(place.textContent.trim()));
    }).observe(document, { childList: true, characterData: true, subtree: true });
    addEventListener("securitypolicyviolation", (event) => {
      window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  page.on("pageerror", (error) => report.errors.push(String(error)));
  const requests = left(context);
  return { context, page, end };

  async function end() {
    report.violations.push(...(await page.evaluate(() => window.violations)));
    report.requests = await requests(page.url());
    await browser.close();
    console.log(JSON.stringify(report));
  }
}

function click(target) {
  report.clicks++;
  return target.click();
}

function press(page, key) {
  report.keys++;
  return page.keyboard.press(key);
}

// How many keys and clicks something took.
async function cost(act) {
  const { keys, clicks } = report;
  await act();
  return [report.keys - keys, report.clicks - clicks];
}

async function signIn(page, link) {
  await page.goto(link);
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByLabel("New password").fill(PASSWORD);
  await click(page.getByRole("button", { name: "Sign in as owner" }));
  await page.getByLabel("SMTP settings").waitFor();
}

// Reads the clipboard, which the policy of the console's own page does not let it do.
async function reader(context, link) {
  const page = await context.newPage();
  await page.goto(new URL("/api/health", link).href);
  return () => page.evaluate(() => navigator.clipboard.readText());
}

// Waits until the page has told of something to people who do not see it.
async function said(page, words) {
  const end = Date.now() + 60_000;
  while (!(await page.evaluate((words) => window.said.has(words), words))) {
    if (Date.now() > end) throw new Error(`the page never said "${words}"`);
    await page.waitForTimeout(50);
  }
}

// A sender that has its settings from the page.
async function connect(page, clipboard) {
  const settings = page.getByLabel("SMTP settings");
  const copied = async (name) => {
    await settings.getByRole("button", { name: `Copy ${name}`, exact: true }).click();
    await said(page, `${name} copied`);
    return clipboard();
  };
  const [host, port] = [await copied("Host"), Number(await copied("Port"))];
  const auth = { user: await copied("User"), pass: await copied("Password") };
  const tls = { rejectUnauthorized: false };
  const transport = nodemailer.createTransport({ host, port, auth, tls });
  return (mail) => transport.sendMail({ from: "shop@example.com", to: EMAIL, ...mail });
}

function row(page, name) {
  return page.getByLabel("Messages").getByRole("link").filter({ hasText: name });
}

// Runs a journey to its end, or tells how far it came.
function walk(journey) {
  journey(...process.argv.slice(2)).catch((error) => {
    console.error(error, JSON.stringify(report));
    process.exit(1);
  });
}

module.exports = { EMAIL, PASSWORD, click, connect, cost, open, press, reader, report, row, said, signIn, walk };
