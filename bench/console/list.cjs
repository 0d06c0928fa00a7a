// An inbox of 10,000 messages: until its first row is there, while it is scrolled and searched, and what it holds.
"use strict";

const { heap, median, start } = require("./browser.cjs");

const LOADS = 20;
// Milliseconds that the network takes each time, so that what waits for something else shows.
const LATENCY = 100;
const SCROLLED = 5_000;
const WORDS = ["1234", "2345", "3456", "4567", "5678"];

async function list(settings) {
  const browser = await start(settings);
  const url = `${settings.home}/inboxes/${settings.inbox}`;
  const values = {
    firstRow: await firstRow(browser, url),
    firstRowSlow: await firstRow(browser, url, { slower: 4 }),
    roundTrips: Math.round((await firstRow(browser, url, { latency: LATENCY, whole: true })) / LATENCY),
  };
  const page = await browser.visitor();
  await page.goto(url);
  await page.evaluate(() => window.firstRow);
  values.heap = await heap(page);
  const scrolled = await page.evaluate((time) => {
    const view = document.querySelector("[data-list]").parentElement;
    return window.frames(time, () => (view.scrollTop += 120));
  }, SCROLLED);
  [values.scrollFrame, values.scrollTask] = [scrolled.p95, scrolled.longest];
  values.nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  values.search = await search(page);
  await browser.close();
  return values;
}

// Milliseconds from the page's end, or from its beginning, to the first row, each time in a browser that knows nothing.
async function firstRow(browser, url, { slower = 1, latency = 0, whole = false } = {}) {
  const times = [];
  for (let load = 0; load < LOADS; load++) {
    const page = await browser.visitor();
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: slower });
    await session.send("Network.enable");
    const bounds = { offline: false, latency, downloadThroughput: -1, uploadThroughput: -1 };
    await session.send("Network.emulateNetworkConditions", bounds);
    await page.goto(url);
    times.push(
      await page.evaluate(async (whole) => {
        const [{ responseEnd, startTime }] = performance.getEntriesByType("navigation");
        return (await window.firstRow) - performance.timeOrigin - (whole ? startTime : responseEnd);
      }, whole),
    );
    await page.context().close();
  }
  return median(times);
}

// From the last key to the rows that match, with the pause for which the search waits.
async function search(page) {
  const times = [];
  const field = page.getByLabel("Search subject, sender, recipients");
  for (const word of WORDS) {
    await field.fill("");
    await page.evaluate(() => window.when(() => !/ found/.test(document.querySelector("header .state").textContent)));
    await field.focus();
    await page.keyboard.type(word.slice(0, -1), { delay: 20 });
    const found = page.evaluate(() =>
      window.when(() => /^\s*\d+ found/.test(document.querySelector("header .state").textContent.trim()) &&
        document.querySelectorAll("[data-message]").length <= 20),
    );
    await page.keyboard.press(word.at(-1));
    times.push((await found) - (await page.evaluate(() => window.keyAt)));
  }
  return median(times);
}

module.exports = { list };
