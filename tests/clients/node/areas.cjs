// Walks through what the web console has beside mail, with a receiver of webhooks that is real.
// Usage: node areas.cjs AREA LINK
"use strict";

const http = require("node:http");
const { walk } = require("./walk.cjs");

const [area, link] = process.argv.slice(2);
const EMAIL = "ada@example.com";
const PASSWORD = "correct horse battery";
const areas = { webhooks };

walk(async (page, report) => {
  await page.goto(link);
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByLabel("New password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in as owner" }).click();
  await page.getByLabel("SMTP settings").waitFor();
  await areas[area](page, report);
});

// Answers each request with the next status, and with the last one from then on.
async function receiver(statuses) {
  const seen = [];
  const server = http.createServer((request, response) => {
    request.resume().on("end", () => {
      seen.push(request.headers["x-webhook-event"]);
      response
        .writeHead(statuses.length > 1 ? statuses.shift() : statuses[0])
        .end();
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    seen,
    server,
  };
}

function place(page, name) {
  return page
    .getByRole("navigation", { name: "Areas" })
    .getByRole("link", { name });
}

async function webhooks(page, report) {
  const { url, seen, server } = await receiver([400, 400, 400, 204]);
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
