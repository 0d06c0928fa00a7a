// A browser with a session, and what its pages tell of when something is drawn.
"use strict";

const { chromium } = require("playwright-core");

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--enable-precise-memory-info"];
const VIEWPORT = { width: 1280, height: 800 };

// A browser; `visitor` makes a person of their own in it, with the cookie of a session.
async function start({ home, cookie }) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGS });
  const [name, value] = cookie.split("=");
  return {
    visitor: async () => {
      const context = await browser.newContext({ viewport: VIEWPORT });
      await context.addCookies([{ name, value, url: home }]);
      await context.addInitScript(watch);
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      return page;
    },
    close: () => browser.close(),
  };
}

// Runs in the page before anything else: `when` gives the time at which what a test waits for has been drawn, in
// milliseconds of the machine's clock; `frames` the time between frames and the longest task of a while.
function watch() {
  const now = () => performance.timeOrigin + performance.now();
  const drawn = () =>
    new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(now()))));
  window.when = (test) =>
    new Promise((resolve) => {
      const look = () => {
        if (!test()) return false;
        observer.disconnect();
        resolve(drawn());
        return true;
      };
      const options = { subtree: true, childList: true, characterData: true, attributes: true };
      const observer = new MutationObserver(look);
      if (!look()) observer.observe(document, options);
    });
  window.firstRow = window.when(() => document.querySelector("[data-message]"));
  window.frames = async (time, each = () => {}) => {
    const tasks = [];
    const observer = new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    );
    observer.observe({ type: "longtask" });
    const deltas = [];
    let before = await new Promise(requestAnimationFrame);
    for (const end = before + time; before < end; ) {
      each();
      const at = await new Promise(requestAnimationFrame);
      deltas.push(at - before);
      before = at;
    }
    observer.disconnect();
    deltas.sort((a, b) => a - b);
    return { p95: deltas[Math.floor(deltas.length * 0.95)], longest: Math.max(0, ...tasks) };
  };
  window.keyAt = 0;
  addEventListener("keydown", (event) => (window.keyAt = performance.timeOrigin + event.timeStamp), true);
}

// MB (10^6 bytes) that a page's scripts hold once what nobody needs is gone.
async function heap(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1e6;
}

// Seconds that the page's main thread was busy so far.
async function busy(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  await session.detach();
  return metrics.find(({ name }) => name === "TaskDuration").value;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

module.exports = { busy, heap, median, quantile, start };
