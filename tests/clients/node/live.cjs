// An open page of the web console while something happens to the server, the network or the clock; prints where the
// list was not that of the API.
// Usage: node live.cjs interrupted|random|tabs FORM LINK, where FORM is `short` or `full`, and LINK the first-run
// link of a server that can be stopped.
"use strict";

const { ask, sender } = require("./fill.cjs");
const { gate, have } = require("./gate.cjs");
const { random } = require("./random.cjs");
const { open, report, row, signIn, walk } = require("./walk.cjs");

// Milliseconds in which a page must be equal to the API again.
const SETTLED = 30_000;
const MINUTE = 60;
const MAIL = { from: "shop@example.com", to: "ada@example.com", text: "Hello." };
const parts = { interrupted, random, tabs };

walk(async (part, form, link) => {
  const way = await gate(link);
  const { page, context, end } = await open();
  report.wrong = [];
  if (part !== "random") await page.clock.install();
  const { pathname, search } = new URL(link);
  await signIn(page, new URL(pathname + search, way.url).href);
  const { id } = (await ask(page, "GET", "/api/inboxes"))[0];
  const { key } = await ask(page, "POST", "/api/api-keys", { name: "Elsewhere" });
  const elsewhere = client(link, key, id);
  await elsewhere.arrive(5);
  await page.locator("[data-message]").nth(4).waitFor();
  const settle = (what) => settled(page, elsewhere, what);
  await parts[part]({ form, page, context, way, elsewhere, settle });
  way.end();
  await end();
});

// Somebody else at the same inbox, who does not come by the gate.
function client(link, key, id) {
  const call = async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(new URL(path, link), options);
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? null : answer.json();
  };
  const inbox = `/api/inboxes/${id}`;
  let sent = 0;
  const list = async (page = 1) => call("GET", `${inbox}/messages?limit=200&page=${page}`);
  return {
    arrive: async (times) => {
      // A server that started again takes mail elsewhere.
      const send = sender(await call("GET", inbox));
      for (let time = 0; time < times; time++) await send({ ...MAIL, subject: `Mail ${++sent}` });
    },
    // As many messages as an inbox can have: none goes for its bound.
    widen: () => call("PATCH", inbox, { maxMessages: 10_000 }),
    delete: (ids) => call("POST", `${inbox}/messages/delete`, { ids }),
    read: (ids, isRead) => call("POST", `${inbox}/messages/read`, { ids, isRead }),
    list,
    // All of it, newest first, as the page shows it: ids, each with a star while it is unread.
    all: async () => {
      const all = [];
      for (let page = 1; ; page++) {
        const { messages, total } = await list(page);
        all.push(...messages.map(({ id, isRead }) => (isRead ? id : `${id}*`)));
        if (messages.length === 0 || all.length >= total) return all;
      }
    },
  };
}

// What the page shows of its list while somebody scrolls through it, in the same form.
function shown(page) {
  return page.evaluate(async () => {
    const list = document.querySelector("[data-list]");
    if (!list) return [];
    const view = list.parentElement;
    const height = Math.max(view.clientHeight, 1);
    const rows = new Map();
    const rest = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (let top = 0; ; top += height) {
      view.scrollTop = top;
      await rest();
      for (const item of list.querySelectorAll("li")) {
        const link = item.querySelector("[data-message]");
        const star = link?.querySelector(".subject.unread") ? "*" : "";
        rows.set(Number(item.getAttribute("aria-posinset")), link && link.dataset.message + star);
      }
      if (top + height >= view.scrollHeight) break;
    }
    view.scrollTop = 0;
    return [...rows].sort(([a], [b]) => a - b).map(([, id]) => id);
  });
}

// Waits until the page's list is that of the API, and reports it where that does not come.
async function settled(page, elsewhere, what) {
  const end = Date.now() + SETTLED;
  for (;;) {
    const [there, here] = [await elsewhere.all(), await shown(page)];
    if (JSON.stringify(there) === JSON.stringify(here)) return;
    if (Date.now() > end) {
      const at = there.findIndex((id, index) => id !== here[index]);
      report.wrong.push(`${what}: ${here.length} rows of ${there.length}, at ${at} ${here[at]}, not ${there[at]}`);
      return;
    }
    await page.waitForTimeout(250);
  }
}

// Something of each kind, from elsewhere.
async function change({ elsewhere }) {
  await elsewhere.arrive(3);
  const { messages } = await elsewhere.list();
  await elsewhere.delete([messages[1].id, messages.at(-1).id]);
  await elsewhere.read([messages[0].id], true);
}

async function interrupted(walker) {
  const { page, context, way, elsewhere, settle } = walker;
  await elsewhere.arrive(5);
  await change(walker);
  await settle("changes while the stream is there");
  await opensLate(walker);
  const loads = [];
  page.on("framenavigated", (frame) => loads.push(frame.url()));

  way.cut();
  await change(walker);
  await settle("a stream that was cut");

  way.shut();
  await change(walker);
  await page.getByText("Reconnecting, as of").waitFor();
  const asked = await count(page, () => minute(page));
  // One second, then 2, 4, 8, 16 and 30, with two requests each, and what the sidebar looks for.
  if (asked > 24) report.wrong.push(`${asked} requests in a minute without a network`);
  report.askedOffline = asked;
  way.open();
  await minute(page);
  await settle("a minute without a network");

  await context.setOffline(true);
  await change(walker);
  await context.setOffline(false);
  await settle("a browser that was offline");

  // The connection dies and nobody is told, as in a sleep.
  way.freeze();
  await change(walker);
  await page.clock.fastForward("08:00:00");
  await minute(page);
  await settle("a clock that jumped");

  await have("stop");
  await page.getByText("Reconnecting, as of").waitFor();
  await have("start");
  await change(walker);
  await minute(page);
  await settle("a server that was restarted");
  if (loads.length > 0) report.wrong.push(`the page loaded itself: ${loads}`);
}

// The stream is open after the list was fetched, and something happens in between.
async function opensLate(walker) {
  const { page, settle } = walker;
  let goOn;
  const late = new Promise((done) => (goOn = done));
  await page.route("**/events*", (route) => late.then(() => route.continue()), { times: 1 });
  await page.reload();
  await page.locator("[data-message]").first().waitFor();
  await change(walker);
  goOn();
  await settle("a stream that was open late");
}

// How many requests the page makes meanwhile.
async function count(page, act) {
  let asked = 0;
  const more = () => asked++;
  page.on("request", more);
  await act();
  page.off("request", more);
  return asked;
}

// Lets a minute go by, in steps of so many seconds that leave the network its time.
async function minute(page, step = 1) {
  for (let second = 0; second < MINUTE; second += step) {
    await page.clock.runFor(step * 1_000);
    await page.waitForTimeout(10);
  }
}

// Ten tabs, of which the last one is in view; a minute later the others have given up their streams.
async function tabs({ page, context, way, elsewhere }) {
  const url = page.url();
  const all = [page];
  await context.addInitScript(() => {
    let hidden = false;
    Object.defineProperty(document, "hidden", { get: () => hidden });
    Object.defineProperty(document, "visibilityState", { get: () => (hidden ? "hidden" : "visible") });
    window.hide = (is) => {
      hidden = is;
      document.dispatchEvent(new Event("visibilitychange"));
    };
  });
  await page.reload();
  for (let tab = 2; tab <= 10; tab++) {
    const before = all.at(-1);
    await before.locator("[data-message]").first().waitFor();
    await before.evaluate(() => window.hide(true));
    await before.clock.fastForward("01:01");
    const next = await context.newPage();
    await next.clock.install();
    await next.goto(url);
    all.push(next);
  }
  const last = all.at(-1);
  await elsewhere.arrive(1);
  await row(last, "Mail 6").waitFor();
  await settled(last, elsewhere, "the tenth tab");
  report.streams = way.streams();
  report.asked = 0;
  for (const tab of all) report.asked += await count(tab, () => minute(tab, 10));
  const [first] = all;
  await last.evaluate(() => window.hide(true));
  await first.bringToFront();
  await first.evaluate(() => window.hide(false));
  await settled(first, elsewhere, "the first tab, shown again");
}
