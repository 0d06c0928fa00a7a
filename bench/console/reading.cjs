// Going from message to message by keys.
"use strict";

const { heap, median, start } = require("./browser.cjs");

const STEPS = 50;
const OPENED = 500;
const HELD = 5_000;
// Milliseconds between two keys of one that is held.
const REPEAT = 33;

async function reading(settings) {
  const browser = await start(settings);
  const page = await browser.visitor();
  await page.goto(`${settings.home}/inboxes/${settings.inbox}`);
  await page.evaluate(() => window.firstRow);
  await page.locator("[data-message]").first().click();
  await page.locator("iframe").waitFor();
  const [head, html] = [[], []];
  for (let step = 0; step < STEPS; step++) {
    const times = await next(page);
    head.push(times.head);
    html.push(times.html);
  }
  const held = page.evaluate((time) => window.frames(time), HELD);
  for (let time = 0; time < HELD; time += REPEAT) {
    await page.keyboard.down("j");
    await page.waitForTimeout(REPEAT);
  }
  await page.keyboard.up("j");
  const { p95, longest } = await held;
  for (let opened = STEPS; opened < OPENED; opened++) await next(page);
  const values = { head: median(head), html: median(html), heldFrame: p95, heldTask: longest, opened: await heap(page) };
  await browser.close();
  return values;
}

// Milliseconds from the key to the head of the next message, and to its HTML.
async function next(page) {
  const drawn = page.evaluate(async () => {
    const title = () => document.querySelector('[aria-label="Message"] h1')?.textContent;
    const frame = () => document.querySelector("iframe");
    const [before, old] = [title(), frame()];
    const head = window.when(() => title() !== undefined && title() !== before);
    await window.when(() => frame() && frame() !== old);
    await new Promise((loaded) => frame().addEventListener("load", loaded, { once: true }));
    const html = await window.when(() => true);
    return { head: (await head) - window.keyAt, html: html - window.keyAt };
  });
  await page.keyboard.press("j");
  return drawn;
}

module.exports = { reading };
