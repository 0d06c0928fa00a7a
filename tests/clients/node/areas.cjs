// Walks through what the web console has beside mail, with a receiver of webhooks that is real.
// Usage: node areas.cjs AREA LINK
"use strict";

const { EventEmitter, once } = require("node:events");
const http = require("node:http");
const { connect, open, press, reader, report, row, signIn, walk } = require("./walk.cjs");

const areas = { checks, fleet, inboxes, looks, start, webhooks };

walk(async (area, link) => {
  const { page, end } = await open();
  await signIn(page, link);
  await areas[area](page, (path) => new URL(path, link).href);
  await end();
});

// Answers each request with the next status, and with the last one from then on. `saw` waits for so many.
async function receiver(statuses) {
  const seen = [];
  const arrivals = new EventEmitter();
  const server = http.createServer((request, response) => {
    request.resume().on("end", () => {
      seen.push(request.headers["x-webhook-event"]);
      arrivals.emit("one");
      response
        .writeHead(statuses.length > 1 ? statuses.shift() : statuses[0])
        .end();
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    seen,
    saw: async (count) => {
      while (seen.length < count) await once(arrivals, "one");
    },
    server,
  };
}

function place(page, name) {
  return page
    .getByRole("navigation", { name: "Areas" })
    .getByRole("link", { name });
}

async function webhooks(page) {
  const { url, seen, saw, server } = await receiver([400, 400, 400, 204]);
  await place(page, "Webhooks").click();
  await page.getByText("There are no webhooks yet").waitFor();
  // What the server does not take is said at its field, and what was typed stays.
  await page.getByRole("button", { name: "New webhook" }).click();
  const editor = page.getByRole("dialog", { name: "New webhook" });
  await editor.getByLabel("URL").fill("http://ada:secret@127.0.0.1/");
  await editor.getByRole("button", { name: "Create" }).click();
  report.refused = await editor.locator(".field p").innerText();
  await editor.getByLabel("URL").fill(url);
  await editor.getByRole("button", { name: "Create" }).click();
  const made = page.getByRole("dialog", { name: "The webhook was made" });
  report.secret = await made
    .getByRole("region", { name: "Secret" })
    .innerText();
  await made.getByRole("button", { name: "Close" }).click();
  await made.waitFor({ state: "detached" });
  report.kept = await page.evaluate(secretsKept, report.secret);

  await page.getByRole("button", { name: `Send a test to ${url}` }).click();
  await page.getByText("HTTP 400").waitFor();
  await page.getByText("The receiver refused it.").first().waitFor();

  await page.getByRole("link", { name: url }).click();
  const log = page.getByRole("region", { name: "Deliveries" });
  await send(page, 2);
  await saw(3);
  await log.getByRole("link").first().waitFor();
  // What arrives is looked for when somebody asks, and by itself while it is under way.
  await page.keyboard.press("r");
  await log
    .getByRole("link", { name: "Mail arrived" })
    .filter({ hasText: "Failed" })
    .nth(1)
    .waitFor();
  await page.getByRole("button", { name: "Show Secret" }).click();
  const shown = page.getByRole("dialog", { name: "Secret" });
  report.again = await shown
    .getByRole("region", { name: "Secret" })
    .innerText();
  await shown.getByRole("button", { name: "Close" }).click();

  await page.keyboard.press("j");
  const detail = page.getByRole("region", { name: "Details" });
  await detail.getByText("The receiver refused it.").waitFor();
  report.subject = await detail.getByRole("link").first().innerText();
  await page.getByRole("button", { name: "Redeliver 2 failed ones" }).click();
  await log.getByRole("link").filter({ hasText: "Delivered" }).nth(1).waitFor();
  await page
    .getByRole("button", { name: "Redeliver 2 failed ones" })
    .waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  report.failed = await log.getByRole("listitem").count();
  report.url = page.url();

  await place(page, "Webhooks").click();
  await page.getByRole("switch").click();
  await page.locator('[role="switch"][aria-checked="false"]').waitFor();
  await page.getByRole("button", { name: "Delete webhook" }).click();
  const sure = page.getByRole("dialog", { name: "Delete webhook" });
  await sure.getByRole("button", { name: "Delete webhook" }).click();
  await page.getByText("There are no webhooks yet").waitFor();
  report.seen = seen;
  server.close();
}

async function inboxes(page, at) {
  await ask(page, 12, "POST", "/api/inboxes", { name: "Batch", expiresInMinutes: 10 });
  await send(page, 3);
  await place(page, "Projects").click();
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Checkout");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "Rename Checkout" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Shop");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("rowheader", { name: "Shop" }).waitFor();

  await place(page, "All inboxes").click();
  const found = page.getByRole("main").getByRole("status").filter({ hasText: "inbox" });
  await found.filter({ hasText: "13 inboxes" }).waitFor();
  const search = page.getByRole("search");
  await search.getByLabel("Search").fill("nothing like it");
  await page.getByText("No inbox matches").waitFor();
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await search.getByLabel("Kind").selectOption("Lasting");
  await found.filter({ hasText: "1 inbox" }).waitFor();
  await search.getByLabel("Kind").selectOption("Disposable");
  await found.filter({ hasText: "12 inboxes" }).waitFor();
  report.url = page.url();
  await page.getByLabel("Select all that are shown").check();
  await page.getByRole("button", { name: "Delete 12 inboxes" }).click();
  const sure = page.getByRole("dialog");
  report.sure = await sure.innerText();
  await sure.getByRole("button", { name: "Delete 12 inboxes" }).click();
  await sure.waitFor({ state: "detached" });
  await found.filter({ hasText: "0 inboxes" }).waitFor();

  // The last inbox of all is the lasting one, which keeps fewer from now on.
  await search.getByLabel("Kind").selectOption("Lasting");
  await page.getByRole("main").getByRole("rowheader").getByRole("link").click();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("Messages that are kept").fill("1");
  await page.getByLabel("Project").selectOption("Shop");
  await page.getByRole("button", { name: "Save and delete 2 messages" }).click();
  await page.getByText("Saved").waitFor();
  const [kept] = await (await page.request.get(at("/api/inboxes?disposable=false"))).json();
  report.kept = [kept.maxMessages, kept.messageCount];
  await page.getByRole("heading", { name: "Shop" }).waitFor();
  await place(page, "Projects").click();
  await page.getByRole("button", { name: "Delete Shop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete project" }).click();
  await page.getByRole("rowheader", { name: "Shop" }).waitFor({ state: "detached" });
}

// More inboxes than are fetched at once: few rows are drawn, the rest comes by scrolling, and all that match are
// deleted after one question.
async function fleet(page, at) {
  await ask(page, 230, "POST", "/api/inboxes", { name: "Fleet", expiresInMinutes: 60 });
  await page.goto(at("/inboxes?q=fleet"));
  const found = page.getByRole("main").getByRole("status").filter({ hasText: "inbox" });
  await found.filter({ hasText: "230 inboxes" }).waitFor();
  const table = page.getByRole("region", { name: "Inboxes" });
  report.drawn = await table.getByRole("row").count();
  const last = table.locator('[aria-rowindex="231"]');
  while ((await last.count()) === 0) {
    await table.evaluate((view) => (view.scrollTop = view.scrollHeight));
    await page.waitForTimeout(50);
  }
  report.drawnAtEnd = await table.getByRole("row").count();
  await page.reload();
  await page.getByLabel("Select all that are shown").check();
  await page.getByRole("button", { name: "Delete all 230 that match" }).click();
  const sure = page.getByRole("dialog");
  report.sure = await sure.getByRole("paragraph").innerText();
  await sure.getByRole("button", { name: "Delete 230 inboxes" }).click();
  // Each is a request of its own, which a busy machine takes long for.
  const none = found.filter({ hasText: /^0 inboxes$/ });
  await none.waitFor({ timeout: 480_000 }).catch(async (failure) => {
    report.dialog = await sure.allInnerTexts();
    throw failure;
  });
  report.left = (await (await page.request.get(at("/api/inboxes"))).json()).length;
}

// What a message's checks say: by a key, of a mail that is spam to everybody, and of one that is none.
async function checks(page, at) {
  const send = await connect(page, await reader(page.context(), at("/")));
  const test = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X";
  await send({ subject: "Spam", text: test });
  const html = "<p style='border-radius: 4px; display: grid'>A mail like many.</p>";
  const list = { unsubscribe: { url: "https://shop.example/leave", comment: "Leave" } };
  await send({ subject: "Hello", text: "A mail like many.", html, list, date: new Date() });
  await row(page, "Spam").click();
  const panel = page.getByRole("tabpanel");
  await panel.waitFor();
  await press(page, "8");
  const rules = panel.getByRole("region", { name: "Rules that match" });
  report.rule = await rules.getByRole("row").nth(1).getByRole("rowheader").innerText();
  report.spam = await panel.getByText("points;").innerText();
  await panel.getByText("The sender got nothing wrong").waitFor();
  await row(page, "Hello").click();
  await panel.getByText("Not spam").waitFor();
  const issues = panel.getByRole("region", { name: "What some clients do not support" });
  report.issues = await issues.locator("b").allInnerTexts();
  await panel.getByText("All clients, those").click();
  report.clients = await panel.getByRole("row").filter({ hasText: "Outlook" }).count();
  await panel.getByText("One click is not enough").waitFor();
  report.leave = await panel.getByText("https://shop.example/leave").count();
  report.url = page.url();
}

// The list as this browser's preferences have it.
async function looks(page, at) {
  await send(page, 2);
  const first = page.locator("[data-message]").first();
  const height = async () => Math.round((await first.boundingBox()).height);
  const choose = async (name) => {
    await page.goto(at("/account/preferences"));
    await page.getByRole("button", { name }).click();
    await page.goto(at("/"));
    await first.waitFor();
  };
  await first.waitFor();
  report.heights = [await height()];
  await choose("Compact");
  report.heights.push(await height());
  await choose("Full width, one at a time");
  report.heights.push(await height());
  const pane = page.getByRole("region", { name: "Message", exact: true });
  await first.click();
  await pane.getByRole("heading").first().waitFor();
  report.listBeside = await first.isVisible();
  await press(page, "u");
  await first.waitFor();
  report.paneBeside = await pane.isVisible();
  await page.setViewportSize({ width: 400, height: 800 });
  await first.filter({ hasText: "←" }).waitFor();
  report.heights.push(await height());
  // What only development has is in nothing that was built.
  await page.goto(at("/gallery"));
  await page.getByText("There is no such page").waitFor();
}

async function start(page) {
  await place(page, "Get started").click();
  await page.getByText("2 of 6 done").waitFor();
  await ask(page, 1, "POST", "/api/team/invitations", { email: "grace@example.org", role: "member" });
  await page.getByText("3 of 6 done").waitFor();
  await page.getByRole("link", { name: "To the webhooks" }).click();
  await page.getByText("There are no webhooks yet").waitFor();
  report.url = page.url();
}

// Asks the API as the person who is signed in, so many times.
async function ask(page, times, method, path, body) {
  await page.evaluate(
    async ([times, method, path, body]) => {
      const headers = { "Content-Type": "application/json" };
      for (let time = 0; time < times; time++) {
        const answer = await fetch(path, { method, headers, body: JSON.stringify(body) });
        if (!answer.ok) throw new Error(await answer.text());
      }
    },
    [times, method, path, body],
  );
}

// Stores so many test messages in the first inbox.
async function send(page, messages) {
  await page.evaluate(async (messages) => {
    const inboxes = await (await fetch("/api/inboxes")).json();
    for (let sent = 0; sent < messages; sent++) {
      await fetch(`/api/inboxes/${inboxes[0].id}/test-message`, {
        method: "POST",
      });
    }
  }, messages);
}

// Where the page still has a secret.
function secretsKept(secret) {
  const places = {
    page: document.documentElement.outerHTML,
    url: location.href,
    storage: JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
  };
  return Object.keys(places).filter((place) => places[place].includes(secret));
}
