// Walks through the web console's screens of what stands in for other providers: identity providers and mocks of
// APIs, which are called as an application would call them.
// Usage: node providers.cjs AREA LINK
"use strict";

const http = require("node:http");

const { ask } = require("./fill.cjs");
const { click, open, reader, report, said, signIn, walk } = require("./walk.cjs");

const areas = { idps, mocks };
const CALLBACK = "http://localhost:3000/callback";

walk(async (area, link) => {
  const { context, page, end } = await open();
  await signIn(page, link);
  await areas[area](page, await reader(context, link));
  await end();
});

function place(page, name) {
  return page.getByRole("navigation", { name: "Areas" }).getByRole("link", { name });
}

// A page of the provider or the mock that is open.
function part(page, name) {
  return page.getByRole("main").getByRole("navigation").getByRole("link", { name, exact: true });
}

async function confirm(page, name) {
  await page.getByRole("button", { name, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

async function idps(page, clipboard) {
  const before = [report.clicks, report.keys];
  await click(place(page, "Identity providers"));
  await page.getByText("There are no identity providers yet").waitFor();
  await click(page.getByRole("button", { name: "New identity provider" }));
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Staging");
  await dialog.getByLabel("Redirect URIs").fill("/callback");
  await dialog.getByRole("button", { name: "Create" }).click();
  report.refused = await dialog.locator(".field .error").innerText();
  await dialog.getByLabel("Redirect URIs").fill(CALLBACK);
  await click(dialog.getByRole("button", { name: "Create" }));
  const copied = async (name) => {
    await click(page.getByRole("button", { name: `Copy ${name}`, exact: true }));
    await said(page, `${name} copied`);
    return clipboard();
  };
  const client = { issuer: await copied("Issuer"), id: await copied("Client id") };
  client.secret = await copied("Client secret");
  report.cost = [report.clicks - before[0], report.keys - before[1]];
  report.hidden = await page.evaluate((secret) => !document.body.innerHTML.includes(secret), client.secret);
  await page.getByRole("button", { name: "Show Client secret" }).click();
  await page.getByText(client.secret).waitFor();

  const inbox = await addUser(page);
  await page.getByRole("main").getByRole("link", { name: inbox.name, exact: true }).waitFor();
  await tryIt(page);
  await part(page, "Settings").click();
  await page.getByLabel("Signed in without being asked").selectOption("Ada Lovelace");
  await save(page);
  await arm(page);
  const { code } = await signInAt(page, client, {});
  report.token = await exchange(page, client, code);
  await signInAt(page, client, { redirect_uri: `${CALLBACK}/` });
  await readActivity(page);
  await settle(page, client);
}

async function addUser(page) {
  await part(page, "Users").click();
  await page.getByText("There are no test users yet").waitFor();
  await page.getByRole("button", { name: "New user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Ada");
  const [inbox] = await ask(page, "GET", "/api/inboxes");
  await dialog.getByLabel("Mail for the user goes to").selectOption(inbox.name);
  await dialog.getByLabel("Groups").fill("admins\nbilling");
  await dialog.getByLabel("Claims").fill('{"plan": ');
  await dialog.getByText("This is not a JSON object.").waitFor();
  report.early = await dialog.getByRole("button", { name: "Create" }).isDisabled();
  await dialog.getByLabel("Claims").fill('{"plan": "pro"}');
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Edit Ada" }).click();
  await dialog.getByLabel("Name").fill("Ada Lovelace");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("rowheader", { name: "Ada Lovelace" }).waitFor();
  return inbox;
}

// The provider's own page, in a tab of its own, asks who signs in.
async function tryIt(page) {
  await part(page, "Connect").click();
  const opened = page.waitForEvent("popup");
  await page.getByRole("link", { name: "Try it" }).click();
  const tab = await opened;
  await tab.getByRole("button", { name: "Ada Lovelace" }).waitFor();
  await tab.close();
}

async function save(page) {
  await page.getByRole("button", { name: "Save" }).click();
  await said(page, "Saved");
  await page.evaluate(() => window.said.clear());
}

async function arm(page) {
  await part(page, "Faults").click();
  await page.getByText("Nothing is asked for").waitFor();
  await page.getByLabel("Filter faults").fill("audience");
  await page.getByRole("button", { name: "Arm wrong_audience" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("For").selectOption({ index: 1 });
  await dialog.getByRole("button", { name: "Arm" }).click();
  await page.getByText("1 of 1 time left").waitFor();
}

// Signs in without a browser, by a hint; what the answer carries back, if it leads anywhere.
async function signInAt(page, { issuer, id }, more) {
  const query = { client_id: id, response_type: "code", scope: "openid", redirect_uri: CALLBACK, ...more };
  const url = `${issuer}/authorize?${new URLSearchParams(query)}`;
  const answer = await page.request.get(url, { maxRedirects: 0 });
  const to = answer.headers().location;
  return to ? Object.fromEntries(new URL(to).searchParams) : {};
}

async function exchange(page, { issuer, id, secret }, code) {
  const form = { grant_type: "authorization_code", code, redirect_uri: CALLBACK };
  const client = { client_id: id, client_secret: secret };
  const answer = await page.request.post(`${issuer}/token`, { form: { ...form, ...client } });
  return answer.status();
}

// The log shows what the application did, and why it was refused.
async function readActivity(page) {
  // What was armed is used up, which the page sees by itself.
  await page.getByText("Nothing is asked for").waitFor();
  await part(page, "Activity").click();
  const log = page.getByRole("region", { name: "Activity", exact: true });
  const detail = page.getByRole("region", { name: "Details" });
  await log.getByRole("link").filter({ hasText: "with the fault wrong_audience" }).first().click();
  await detail.getByText("Ada Lovelace").waitFor();
  report.decoded = await detail.getByRole("region", { name: "Answer" }).innerText();
  await detail.getByRole("button", { name: "All entries of this sign-in" }).click();
  report.flow = await log.getByRole("listitem").count();
  await log.getByRole("button", { name: "One sign-in" }).click();
  await log.getByRole("button", { name: "Refused" }).click();
  await log.getByRole("link").first().click();
  report.hint = await detail.getByRole("note").innerText();
  report.url = page.url();
  await part(page, "Connect").click();
  await page.getByRole("note").getByText("Refused last:").waitFor();
  await part(page, "Activity").click();
  await confirm(page, "Clear");
  await page.getByText("Nothing happened here yet").waitFor();
}

async function settle(page, { secret }) {
  await part(page, "Settings").click();
  await page.getByLabel("Seconds that tokens are good for").fill("60");
  await save(page);
  await confirm(page, "Rotate the keys");
  await page.getByText("Still published").waitFor();
  await confirm(page, "Rotate the secret");
  const [known] = await ask(page, "GET", "/api/idps");
  report.settings = [known.tokenTtl, known.previousKeys.length, known.clientSecret !== secret];
  await part(page, "Users").click();
  await page.getByText("signed in without being asked").waitFor();
  await page.getByRole("button", { name: "Delete Ada Lovelace" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("There are no test users yet").waitFor();
  await part(page, "Settings").click();
  await confirm(page, "Delete identity provider");
  await page.getByText("There are no identity providers yet").waitFor();
  report.kept = await kept(page, known.clientSecret);
}

// Where the page still has a secret.
function kept(page, secret) {
  return page.evaluate((secret) => {
    const storage = JSON.stringify([{ ...localStorage }, { ...sessionStorage }]);
    return [document.documentElement.outerHTML, storage, location.href].filter((it) => it.includes(secret));
  }, secret);
}

// A mock is called as an SDK calls it, and everything that it does is seen, made worse, and taken back.
async function mocks(page, clipboard) {
  const hooks = await receiver();
  const before = [report.clicks, report.keys];
  await click(place(page, "API mocks"));
  await page.getByText("There are no API mocks yet").waitFor();
  await click(page.getByRole("button", { name: "New API mock" }));
  await page.getByLabel("Search providers").fill("pay");
  await page.getByRole("heading", { name: "Payments" }).waitFor();
  report.found = await page.getByRole("heading", { name: "CRM" }).count();
  await click(page.getByRole("button", { name: "New mock of Stripe" }));
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Webhook URL").fill(hooks.url);
  await click(dialog.getByRole("button", { name: "Create" }));
  const copied = async (name) => {
    await click(page.getByRole("button", { name: `Copy ${name}`, exact: true }));
    await said(page, `${name} copied`);
    return clipboard();
  };
  const mock = { url: await copied("Base URL"), key: await copied("secretKey") };
  report.cost = [report.clicks - before[0], report.keys - before[1]];
  report.snippet = await page.getByRole("region", { name: "curl", exact: true }).innerText();
  report.hidden = await page.evaluate((key) => !document.body.innerHTML.includes(key), mock.key);
  await page.getByLabel("Language").selectOption("Python");
  report.python = await page.getByRole("region", { name: "Python", exact: true }).innerText();

  const customer = await call(page, mock, "/v1/customers", { email: "o'neill@example.com" });
  await call(page, mock, "/v1/nothing", {});
  await readCalls(page, customer.body.id);
  await readWebhooks(page, hooks);
  report.declined = await scenarios(page, mock);
  await end(page, mock);
  hooks.server.close();
}

// Takes what it is sent, and counts it.
async function receiver() {
  const seen = [];
  const server = http.createServer((request, response) => {
    request.resume().on("end", () => {
      seen.push(request.headers["stripe-signature"]);
      response.writeHead(204).end();
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}/hook`, seen, server };
}

async function call(page, { url, key }, path, form) {
  const headers = { Authorization: `Bearer ${key}` };
  const answer = await page.request.post(url + path, { headers, form });
  return { status: answer.status(), body: await answer.json().catch(() => null) };
}

async function readCalls(page, customer) {
  await part(page, "Calls").click();
  const log = page.getByRole("region", { name: "Calls", exact: true });
  const detail = page.getByRole("region", { name: "Details" });
  await log.getByRole("link").nth(1).waitFor();
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  report.failed = await log.getByRole("listitem").count();
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  await page.getByLabel("Filter by path").fill("customers");
  await log.getByRole("link").first().click();
  await detail.getByText("email=o'neill@example.com").waitFor();
  report.curl = await detail.getByRole("region", { name: "As curl" }).innerText();
  await detail.getByRole("button", { name: customer }).click();
  await page.getByRole("button", { name: `Of ${customer}` }).waitFor();
  report.url = page.url();
  await part(page, "Objects").click();
  await page.getByRole("link", { name: customer }).click();
  await page.getByRole("link", { name: "Its calls" }).click();
  await log.getByRole("link").first().waitFor();
  report.ofObject = await log.getByRole("listitem").count();
}

async function readWebhooks(page, { seen }) {
  await part(page, "Webhooks").click();
  const log = page.getByRole("region", { name: "Webhooks", exact: true });
  const detail = page.getByRole("region", { name: "Details" });
  const sent = log.getByRole("link", { name: "customer.created" }).filter({ hasText: "Delivered" });
  await sent.first().click();
  await detail.getByText('"type": "customer.created"').waitFor();
  await detail.getByRole("button", { name: "Send again" }).click();
  await sent.nth(1).waitFor();
  report.signatures = new Set(seen).size;
}

async function scenarios(page, mock) {
  await part(page, "Scenarios").click();
  await page.getByRole("button", { name: "Add" }).click();
  const first = page.getByRole("group", { name: "Entry 1" });
  await first.getByLabel("Path, with").fill("/v1/customers");
  await first.getByLabel("A fault").selectOption("Unavailable");
  await page.getByLabel("Decline").selectOption({ index: 1 });
  await page.getByLabel("Milliseconds before the first attempt").fill("99999999");
  await page.getByLabel("Milliseconds before the first attempt").fill("5");
  await save(page);
  const [known] = await ask(page, "GET", "/api/mocks");
  const { next, webhooks, decline, latencyMs } = known.settings;
  report.saved = [next, webhooks.delayMs, webhooks.enabled, decline, latencyMs];
  const statuses = [];
  for (let times = 0; times < 2; times++) {
    statuses.push((await call(page, mock, "/v1/customers", { email: "a@b.test" })).status);
  }
  const paid = { amount: "1000", currency: "usd", confirm: "true", payment_method: "pm_card_visa" };
  statuses.push((await call(page, mock, "/v1/payment_intents", paid)).status);
  await confirm(page, "Reset all");
  await page.getByText("Nothing waits for the next calls.").waitFor();
  statuses.push((await call(page, mock, "/v1/payment_intents", paid)).status);
  return statuses;
}

async function end(page, mock) {
  await part(page, "Calls").click();
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Clear the mock" }).click();
  await page.getByText("Nothing was called yet").waitFor();
  await part(page, "Settings").click();
  await page.getByLabel("Name").fill("Checkout");
  await save(page);
  await page.getByRole("heading", { name: "Checkout", level: 1 }).waitFor();
  await confirm(page, "Rotate secretKey");
  report.old = (await call(page, mock, "/v1/customers", {})).status;
  await confirm(page, "Delete API mock");
  await page.getByText("There are no API mocks yet").waitFor();
  report.kept = await kept(page, mock.key);
}
