// Random changes of an inbox from elsewhere while somebody scrolls, selects and reads in its list.
"use strict";

const { report } = require("./walk.cjs");

// Changes, and how many of them come before a look at what must not have moved.
const CHANGES = { short: 150, full: 10_000 };
const BATCH = 50;
// Changes that are under way at once.
const AT_ONCE = 10;
// Messages that are there before.
const BEGINNING = 120;

// Numbers that are the same in each run.
function dice(seed) {
  return (sides) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * sides);
  };
}

// `settle` waits until the page's list is the API's.
async function random({ form, page, elsewhere, settle }) {
  const roll = dice(42);
  await elsewhere.widen();
  await elsewhere.arrive(BEGINNING);
  await settle("the beginning");
  const kept = await hold(page);
  const spared = new Set(Object.values(kept));
  for (let done = 0; done < CHANGES[form]; done += BATCH) {
    const { messages } = await elsewhere.list(1 + roll(2));
    const ids = messages.map(({ id }) => id).filter((id) => !spared.has(id));
    for (let change = 0; change < BATCH; change += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => once(elsewhere, roll, ids)));
    await page.evaluate((to) => (document.querySelector("[data-list]").parentElement.scrollTop = to), roll(9_000));
    await same(page, kept, `after ${done + BATCH} changes`);
    await still(page, elsewhere, `after ${done + BATCH} changes`);
  }
  await settle("the end");
  await same(page, kept, "at the end");
}

async function once(elsewhere, roll, ids) {
  const pick = () => ids.splice(roll(ids.length), 1);
  const kind = roll(4);
  if (kind < 2 || ids.length === 0) await elsewhere.arrive(1);
  else if (kind === 2) await elsewhere.delete(pick());
  else await elsewhere.read(pick(), roll(2) === 0);
}

// Opens a message and selects another one, which nobody deletes.
async function hold(page) {
  const rows = page.locator("[data-message]");
  await rows.nth(2).click();
  await page.getByRole("tablist").waitFor();
  const open = await rows.nth(2).getAttribute("data-message");
  const selected = await rows.nth(4).getAttribute("data-message");
  await rows.nth(4).click({ modifiers: ["Control"] });
  await page.getByText("1 selected").waitFor();
  return { open, selected };
}

// The message that is open and the one that is selected are so still.
async function same(page, { open, selected }, when) {
  const now = new URL(page.url()).searchParams.get("message");
  if (now !== open) report.wrong.push(`${when} ${now} is open, not ${open}`);
  if ((await page.getByText("1 selected").count()) !== 1) report.wrong.push(`${when} ${selected} is not selected`);
}

// What arrives above does not move the row that somebody looks at further down.
async function still(page, elsewhere, when) {
  const look = () =>
    page.evaluate(() => {
      const box = document.querySelector("[data-list]").parentElement.getBoundingClientRect();
      const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      return at?.closest("li")?.querySelector("[data-message]")?.dataset.message;
    });
  await page.evaluate(() => (document.querySelector("[data-list]").parentElement.scrollTop = 3_000));
  await page.locator("[data-list] li .skeleton").first().waitFor({ state: "detached" });
  const total = () => page.evaluate(() => document.querySelector("[data-list] li").getAttribute("aria-setsize"));
  // Only once what came before was told of, what comes now is all that moves.
  const known = String((await elsewhere.list()).total);
  for (let tries = 0; tries < 200 && (await total()) !== known; tries++) await page.waitForTimeout(50);
  const before = await look();
  await elsewhere.arrive(3);
  for (let tries = 0; tries < 200 && (await total()) === known; tries++) await page.waitForTimeout(50);
  await page.waitForTimeout(100);
  const after = await look();
  if (before !== after) report.wrong.push(`${when} the row under the pointer was ${before}, now ${after}`);
}

module.exports = { random };
