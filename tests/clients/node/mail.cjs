// Works with many mails in the web console by keys, and counts these.
// Usage: node mail.cjs PART LINK, where PART is `clean` with the first-run link of a server, or `find` with
// that of one whose team has a confirmed address to forward to.
"use strict";

const { click, connect, cost, open, PASSWORD, press, reader, report, row, signIn, walk } = require("./walk.cjs");

const MANY = 210;
const parts = { clean, find };

walk(async (part, link) => {
  const { page, context, end } = await open();
  await signIn(page, link);
  const clipboard = await reader(context, link);
  await page.bringToFront();
  const send = await connect(page, clipboard);
  const { pathname } = new URL(page.url());
  const subjects = () => page.evaluate(listed, pathname.split("/").at(-1));
  await parts[part]({ page, context, clipboard, send, subjects });
  await end();
});

// What the server has, newest first.
async function listed(inbox) {
  const { messages } = await (await fetch(`/api/inboxes/${inbox}/messages`)).json();
  return messages.map((message) => message.subject);
}

async function keys(page, ...names) {
  for (const name of names) await press(page, name);
}

function heading(page, name) {
  return page.getByLabel("Message", { exact: true }).getByRole("heading", { name });
}

async function show(page, name) {
  await row(page, name).click();
  await heading(page, name).waitFor();
}

function gone(page, name) {
  return row(page, name).waitFor({ state: "detached" });
}

// In focus the note stays, and what it tells of waits, however slow the machine is.
function hold(page) {
  return page.getByRole("button", { name: "Undo" }).focus();
}

async function clean(walker) {
  const { page, send, subjects } = walker;
  for (const subject of ["Kept", "Deleted", "Newest"]) await send({ subject, text: "Hello." });
  await row(page, "Newest").waitFor();
  report.undo = await cost(() => undo(page));
  report.undone = await subjects();
  report.several = await cost(() => several(page));
  report.untouched = await subjects();
  for (let load = 1; load <= MANY; load++) await send({ subject: `Load ${load}`, text: "Hello." });
  report.many = await cost(() => many(page));
  report.afterMany = await subjects();
  await leave(walker);
  report.afterLeaving = await subjects();
  await signOut(page);
  report.afterSignOut = await subjects();
}

async function undo(page) {
  await show(page, "Deleted");
  await keys(page, "#");
  await gone(page, "Deleted");
  await hold(page);
  await keys(page, "z");
  await row(page, "Deleted").waitFor();
  await keys(page, "z");
  await page.getByText("Nothing can be undone any more").waitFor();
  await keys(page, "Escape");
}

// Three in a row are selected, deleted together, and back together.
async function several(page) {
  await keys(page, "x", "Shift+K", "Shift+K");
  await page.getByText("3 selected").waitFor();
  await keys(page, "#");
  await page.getByText("3 messages deleted").waitFor();
  await hold(page);
  await keys(page, "z");
  await page.getByText("3 messages are back").waitFor();
  await row(page, "Kept").waitFor();
}

// All that a search finds are deleted, of which most were never fetched; the rest stays.
async function many(page) {
  await keys(page, "/");
  await page.keyboard.type("subject:LOAD");
  await keys(page, "Enter");
  await page.getByText(`${MANY} found`).waitFor();
  await keys(page, "x");
  await click(page.getByRole("button", { name: `Select all ${MANY} that match` }));
  await page.getByText(`${MANY} selected`).waitFor();
  await keys(page, "#");
  const dialog = page.getByRole("dialog");
  await click(dialog.getByRole("button", { name: `Delete ${MANY} messages` }));
  await dialog.getByText(`Done: ${MANY} messages.`).waitFor();
  await keys(page, "Enter");
  await dialog.waitFor({ state: "detached" });
  await page.getByText("0 found").waitFor();
  await keys(page, "Escape");
  await row(page, "Kept").waitFor();
}

// What was deleted is deleted though its page is closed before the time for undoing is over.
async function leave({ context, page }) {
  const other = await context.newPage();
  await other.goto(page.url());
  await show(other, "Newest");
  await keys(other, "#");
  await gone(other, "Newest");
  await hold(other);
  await other.close({ runBeforeUnload: true });
  await page.bringToFront();
  await gone(page, "Newest");
}

async function signOut(page) {
  await show(page, "Deleted");
  await keys(page, "#");
  await gone(page, "Deleted");
  await hold(page);
  await page.locator("summary").filter({ hasText: "ada" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await row(page, "Kept").waitFor();
}

async function find(walker) {
  const { page, send } = walker;
  await send({
    subject: "Invoice",
    from: "billing@example.com",
    text: "Pay.",
    attachments: [{ filename: "a.txt", content: "a" }],
  });
  await send({ subject: "Parcel", text: "On its way." });
  await row(page, "Parcel").waitFor();
  await search(walker);
  await follow(walker);
  await share(walker);
  await forward(page);
  await jump(page);
}

// What arrives is held against the chips, too.
async function search({ page, send }) {
  await keys(page, "/");
  await page.keyboard.type('from:billing has:attachment "inv');
  await page.getByText("1 found").waitFor();
  await keys(page, "Enter");
  const chip = page.getByRole("button", { name: "Take away the filter from billing" });
  await chip.waitFor();
  report.filter = Object.fromEntries(new URL(page.url()).searchParams);
  const billing = { from: "billing@example.com", text: "Pay." };
  const attachments = [{ filename: "b.txt", content: "b" }];
  await send({ subject: "Invoice without a file", ...billing });
  await send({ subject: "Invoice of another", text: "Pay.", attachments });
  await send({ subject: "Invoice again", ...billing, attachments });
  await row(page, "Invoice again").waitFor();
  report.matching = await page.getByLabel("Messages").getByRole("listitem").count();
  await click(chip);
  await page.getByText("3 found").waitFor();
  await keys(page, "Escape");
  await page.getByText("5 messages, 5 unread").waitFor();
}

// It opens what arrives, and pauses for whoever goes elsewhere.
async function follow({ page, send }) {
  const button = (name) => page.getByRole("button", { name, exact: true });
  await keys(page, "t");
  await page.locator('button[aria-pressed="true"]').filter({ hasText: "Follow" }).waitFor();
  await heading(page, "Invoice again").waitFor();
  await send({ subject: "Followed", text: "Hello." });
  await heading(page, "Followed").waitFor();
  await keys(page, "j");
  await button("Paused").waitFor();
  await send({ subject: "Not followed", text: "Hello." });
  await row(page, "Not followed").waitFor();
  report.paused = await heading(page, "Invoice again").count();
  await keys(page, "t");
  await heading(page, "Not followed").waitFor();
  await keys(page, "t");
}

async function share({ context, clipboard, page }) {
  await keys(page, "y");
  await page.getByText("The link to this message is copied").waitFor();
  const other = await context.newPage();
  await other.goto(await clipboard());
  await heading(other, "Not followed").waitFor();
  await other.close();
  await page.bringToFront();
}

// From the second time on the addresses are those of the last time.
async function forward(page) {
  const dialog = page.getByRole("dialog", { name: "Forward" });
  await keys(page, "f");
  await dialog.getByRole("checkbox").check();
  await click(dialog.getByRole("button", { name: "Forward to 1 address" }));
  await dialog.getByText("Sent", { exact: true }).waitFor();
  await click(dialog.getByRole("button", { name: "Close" }));
  report.forward = await cost(async () => {
    await keys(page, "f");
    await dialog.locator("button:focus").filter({ hasText: "Forward to 1 address" }).waitFor();
    await keys(page, "Enter");
    await dialog.getByText("Sent", { exact: true }).waitFor();
    await keys(page, "Enter");
    await dialog.waitFor({ state: "detached" });
  });
}

// It is fetched when it is opened first, and what is typed before is the page's.
async function palette(page) {
  await keys(page, "Control+k");
  await page.locator("dialog input:focus").waitFor();
}

// To another inbox and to a command by their names, and to a screen by two letters.
async function jump(page) {
  await palette(page);
  await page.keyboard.type("refunds");
  await page.getByRole("option", { name: "Refunds" }).waitFor();
  await keys(page, "Enter");
  await page.getByRole("heading", { name: "Refunds" }).waitFor();
  await keys(page, "g", "s");
  await page.waitForURL((url) => url.pathname.endsWith("/settings"));
  await page.goBack();
  await page.getByLabel("SMTP settings").waitFor();
  await palette(page);
  await page.keyboard.type("to webhooks");
  await keys(page, "Enter");
  await page.getByText("There are no webhooks yet").waitFor();
}
