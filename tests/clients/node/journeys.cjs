// Whole tasks in the web console, with what each costs and may cost: [keys, clicks], but for words that are typed.
// Usage: node journeys.cjs keys|phone LINK, with the first-run link of a server.
"use strict";

const { ask, sender } = require("./fill.cjs");
const { click, cost, EMAIL, open, PASSWORD, press, reader, report, row, walk } = require("./walk.cjs");

const CODE = {
  subject: "Your sign-in code",
  to: "ada@example.com",
  text: "Your code is 481516. Or: https://shop.example/sign-in?t=1",
  html: "<p>Your code is <b>481516</b>.</p><a href='https://shop.example/sign-in?t=1'>Sign in</a>",
};
const journeys = { keys, phone };

walk(async (name, link) => {
  report.costs = {};
  report.budgets = {};
  await journeys[name](link);
});

// Notes what a task costs beside what it may cost; it fails where it costs less or more.
async function task(name, budget, act) {
  report.budgets[name] = budget;
  report.costs[name] = await cost(act);
}

async function keys(link) {
  const { page, context, end } = await open();
  const tab = (times = 1) => repeat(times, () => press(page, "Tab"));
  await page.goto(link);
  await page.getByLabel("E-mail").focus();
  await page.keyboard.type(EMAIL);
  await tab(2);
  await page.keyboard.type(PASSWORD);
  await press(page, "Enter");
  await page.getByLabel("SMTP settings").waitFor();
  const clipboard = await reader(context, link);
  await page.bringToFront();
  const [inbox] = await ask(page, "GET", "/api/inboxes");
  const send = sender(inbox);

  await send(CODE);
  await row(page, CODE.subject).waitFor();
  await task("copy the code of the newest mail", [1, 0], async () => {
    await press(page, "c");
    await page.getByText("Copied 481516").waitFor();
  });
  await task("copy the link of the newest mail", [1, 0], async () => {
    await press(page, "l");
    await page.getByText("Copied https://shop.example").waitFor();
  });
  report.link = await clipboard();
  await page.bringToFront();
  await task("see the mail that was just sent", [1, 0], async () => {
    await press(page, "Enter");
    await page.getByRole("heading", { name: CODE.subject }).waitFor();
  });
  await task("phone width", [1, 0], async () => {
    // From the full width the next one is the first.
    await press(page, "w");
    await page.locator("iframe.phone").waitFor();
  });
  await task("dark mode", [1, 0], async () => {
    await press(page, "d");
    await page.locator("iframe.scheme").waitFor();
  });
  await task("headers", [1, 0], async () => {
    await press(page, "4");
    await page.getByLabel("Filter headers").waitFor();
  });
  await task("raw", [1, 0], async () => {
    await press(page, "5");
    await page.getByRole("region", { name: "Raw" }).getByText("Subject:").first().waitFor();
  });
  await task("a link for a colleague", [1, 0], async () => {
    await press(page, "y");
    await page.getByText("The link to this message is copied").waitFor();
  });
  await press(page, "t");
  await task("change, send, see again, while following", [0, 0], async () => {
    await send({ ...CODE, subject: "Your sign-in code, again" });
    await page.getByRole("heading", { name: "Your sign-in code, again" }).waitFor();
  });
  await press(page, "t");
  await press(page, "Escape");
  for (let number = 1; number <= 3; number++) {
    await send({ subject: `Order ${number}`, to: `buyer${number}@example.com`, text: "Thanks." });
  }
  await row(page, "Order 3").waitFor();
  await task("find by recipient", [1, 0], async () => {
    await press(page, "/");
    await page.keyboard.type("to:buyer2@");
    await page.getByText("1 found").waitFor();
  });
  await press(page, "Enter");
  await press(page, "Escape");
  await row(page, "Order 3").waitFor();
  await settings(page);
  await elsewhere(page);
  await end();
}

// To the SMTP settings and back: two keys each.
async function settings(page) {
  await task("to the SMTP settings", [2, 0], async () => {
    await press(page, "g");
    await press(page, "c");
    await page.getByLabel("SMTP settings").waitFor();
  });
}

// A webhook is made by keys, and the dialog gives the focus back.
async function elsewhere(page) {
  await press(page, "g");
  await press(page, "w");
  const button = page.getByRole("button", { name: "New webhook" });
  await button.focus();
  await press(page, "Enter");
  const dialog = page.getByRole("dialog", { name: "New webhook" });
  await dialog.locator("input:focus").waitFor();
  await page.keyboard.type("http://127.0.0.1:8099/hook");
  await press(page, "Enter");
  const made = page.getByRole("dialog", { name: "The webhook was made" });
  await made.waitFor();
  await press(page, "Escape");
  await made.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "http://127.0.0.1:8099/hook" }).waitFor();
  await page.locator("main button:focus").filter({ hasText: "New webhook" }).waitFor();
}

async function repeat(times, act) {
  for (let time = 0; time < times; time++) await act();
}

// A phone: one pane at a time, the system's back, nothing that needs a pointer that hovers.
async function phone(link) {
  const viewport = { width: 390, height: 844 };
  const { page, end } = await open({ viewport, hasTouch: true, isMobile: true });
  report.sideways = [];
  await page.goto(link);
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByLabel("New password").fill(PASSWORD);
  await task("from the link to the SMTP settings", [0, 1], async () => {
    await click(page.getByRole("button", { name: "Sign in as owner" }));
    await page.getByLabel("SMTP settings").waitFor();
  });
  await fits(page, "settings");
  const [inbox] = await ask(page, "GET", "/api/inboxes");
  const send = sender(inbox);
  await send({ ...CODE, subject: "Older" });
  await send(CODE);
  await task("copy the code of a mail that just came", [0, 2], async () => {
    await click(row(page, CODE.subject));
    await click(page.getByRole("button", { name: /^Copy code/ }).first());
    await page.getByText(/Copied 481516|copied/).first().waitFor();
  });
  await page.frameLocator("iframe").getByText("481516").waitFor();
  await fits(page, "message");
  await task("delete it and take that back", [0, 2], async () => {
    await click(page.getByRole("button", { name: "Delete", exact: true }));
    await click(page.getByRole("button", { name: "Undo" }));
  });
  await page.goBack();
  await row(page, CODE.subject).waitFor();
  await fits(page, "list");
  const search = page.getByLabel("Search subject, sender, recipients");
  await task("find by subject", [0, 1], async () => {
    await click(search);
    await page.keyboard.type("older");
    await page.getByText("1 found").waitFor();
  });
  await search.fill("");
  await row(page, CODE.subject).waitFor();
  await task("to the webhooks", [0, 2], async () => {
    await click(page.getByRole("button", { name: "Menu" }));
    await click(page.getByRole("link", { name: "Webhooks" }));
    await page.getByText("There are no webhooks yet").waitFor();
  });
  await fits(page, "webhooks");
  await end();
}

async function fits(page, name) {
  const over = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
  if (over > 0) report.sideways.push(`${name} is ${over} px too wide`);
}
