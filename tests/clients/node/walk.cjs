// Walks through the web console in Chromium, and prints what was seen as one line of JSON.
"use strict";

const { chromium } = require("playwright-core");

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];

// Runs in each page: violations of its policy are written down.
function watch() {
  window.violations = [];
  addEventListener("securitypolicyviolation", (event) => {
    window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
  });
}

// A browser of its own; `steps` gets its first page, and `report` to write to.
async function walk(steps) {
  const report = { errors: [], violations: [], requests: [] };
  try {
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGS });
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await context.addInitScript(watch);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => report.errors.push(String(error)));
    context.on("request", (request) => report.requests.push(request.url()));
    await steps(page, report, context);
    report.violations.push(...(await page.evaluate(() => window.violations)));
    await browser.close();
    console.log(JSON.stringify(report));
  } catch (error) {
    console.error(error, JSON.stringify(report));
    process.exit(1);
  }
}

module.exports = { walk };
