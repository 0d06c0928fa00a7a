// Fetches a URL in Chromium, over connections that were used before, and prints the status.
// Usage: node fetch.cjs BASE KEY URL
"use strict";

const { chromium } = require("playwright-core");

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];

async function main(base, key, url) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGS });
  const page = await browser.newPage();
  // A page of the same origin, after which a few connections are open.
  await page.goto(`${base}/api/health`);
  const status = await page.evaluate(
    async ([key, url]) => {
      const ask = () => fetch("/api/health").then((answer) => answer.text());
      await Promise.all(Array.from({ length: 4 }, ask));
      const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      return answer.status;
    },
    [key, url],
  );
  console.log(status);
  await browser.close();
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
