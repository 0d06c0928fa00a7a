// Walks through the web console in Chromium, from the first-run link on, and prints as one line of JSON
// what it saw.
// Usage: node console.cjs LINK FILE, where the file holds the HTML of a hostile mail.
"use strict";

const fs = require("node:fs");
const { chromium } = require("playwright-core");
const nodemailer = require("nodemailer");

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
const EMAIL = "ada@example.com";
const PASSWORD = "correct horse battery";
// What runs a script where a text becomes markup.
const MARKUP = `"><img src=x onerror="document.documentElement.dataset.ran='yes'">`;

const report = { clicks: 0, keys: 0, requests: [], errors: [], violations: [] };

async function main(link, file) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGS });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
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
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => report.errors.push(String(error)));
  const requests = new Set();
  context.on("request", (request) => requests.add(request));
  context.on("requestfailed", (request) => {
    if (!request.failure().errorText.startsWith("net::")) requests.delete(request);
  });
  await signIn(page, link);
  const clipboard = await reader(context, link);
  const send = await connect(page, clipboard);
  await firstMail(page, send, clipboard);
  await find(page, send);
  await deleteAndUndo(page);
  await offline(page, context, send);
  await hostile(page, send, fs.readFileSync(file, "utf8"));
  await sessionOver(page, context);
  report.ran = await page.evaluate(() => document.documentElement.dataset.ran ?? "");
  report.violations.push(...(await page.evaluate(() => window.violations)));
  report.requests = [...requests].map((request) => request.url());
  report.nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  await browser.close();
  console.log(JSON.stringify(report));
}

function click(target) {
  report.clicks++;
  return target.click();
}

function press(page, key) {
  report.keys++;
  return page.keyboard.press(key);
}

async function signIn(page, link) {
  await page.goto(link);
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByLabel("New password").fill(PASSWORD);
  await click(page.getByRole("button", { name: "Sign in as owner" }));
  await page.getByLabel("SMTP settings").waitFor();
  report.clicksToSettings = report.clicks;
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

async function firstMail(page, send, clipboard) {
  const html = "<h1>Hello</h1><p>Your code is <b>481516</b>.</p>";
  await send({ subject: "Your sign-in code", text: "Your code is 481516.", html });
  await row(page, "Your sign-in code").waitFor();
  await press(page, "c");
  await page.getByText("Copied 481516").waitFor();
  report.code = await clipboard();
  report.keysToCode = report.keys;
  await press(page, "Enter");
  const frame = page.frameLocator('iframe[title="Preview of the message"]');
  await frame.getByText("Hello").waitFor();
  await press(page, "2");
  await page.getByRole("region", { name: "Text" }).getByText("Your code is 481516.").waitFor();
  // It counts as read after a moment in view.
  await page.getByText("1 message, 0 unread").waitFor();
  await press(page, "1");
}

async function find(page, send) {
  for (let number = 1; number <= 3; number++) {
    await send({ subject: `Order ${number}`, to: `buyer${number}@example.com`, text: "Thanks." });
  }
  await row(page, "Order 3").waitFor();
  await press(page, "/");
  await page.keyboard.type("BUYER2");
  await page.getByText("1 found").waitFor();
  report.found = await page.getByLabel("Messages").getByRole("listitem").allInnerTexts();
  await press(page, "Escape");
  await row(page, "Order 3").waitFor();
}

async function deleteAndUndo(page) {
  await row(page, "Order 1").click();
  await page.getByRole("heading", { name: "Order 1" }).waitFor();
  await press(page, "#");
  await row(page, "Order 1").waitFor({ state: "detached" });
  // In focus it stays, however slow the machine is.
  await page.getByRole("button", { name: "Undo" }).focus();
  await press(page, "Enter");
  await row(page, "Order 1").waitFor();
  await press(page, "j");
  await press(page, "k");
}

// A stream that was cut goes on, and nothing is there twice.
async function offline(page, context, send) {
  await context.setOffline(true);
  await send({ subject: "While you were away", text: "Hello." });
  await context.setOffline(false);
  await row(page, "While you were away").waitFor();
  report.away = await row(page, "While you were away").count();
}

async function hostile(page, send, html) {
  await send({
    subject: `Hostile ${MARKUP}`,
    from: { name: MARKUP, address: "eve@example.com" },
    text: `${MARKUP} javascript:alert(1)`,
    html,
    headers: { "X-Hostile": MARKUP },
    attachments: [{ filename: `${MARKUP}.html`, content: MARKUP, contentType: "text/html" }],
  });
  await row(page, "Hostile").click();
  await page.getByRole("heading", { name: "Hostile" }).waitFor();
  for (let tab = 7; tab >= 1; tab--) {
    await press(page, String(tab));
    await page.locator('[role="tab"][aria-selected="true"]').nth(0).waitFor();
    await page.waitForTimeout(250);
  }
  await page.frameLocator('iframe[title="Preview of the message"]').locator("body").waitFor();
  report.links = await page.evaluate(() =>
    [...document.links].map((link) => link.protocol).filter((it) => !/^(https?|mailto):$/.test(it)),
  );
}

async function sessionOver(page, context) {
  await context.clearCookies();
  await press(page, "r");
  const dialog = page.getByRole("dialog", { name: "Your session is over" });
  await dialog.getByLabel("Password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Hostile" }).waitFor();
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error, JSON.stringify(report));
  process.exit(1);
});
