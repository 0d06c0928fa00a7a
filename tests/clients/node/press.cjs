// Opens a page in Chromium, presses a button of it, and prints where that led as one line of JSON.
// Usage: node press.cjs URL BUTTON
"use strict";

const { chromium } = require("playwright-core");

async function main(url, button) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage();
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(url, { waitUntil: "load" });
  const title = await page.title();
  await page.getByRole("button", { name: button }).click();
  await page.waitForURL((now) => now.href !== url, { waitUntil: "load" });
  console.log(JSON.stringify({ title, landed: page.url(), requests }));
  await browser.close();
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
