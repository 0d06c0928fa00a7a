// Walks through the web console in Chromium, from the first-run link on, and prints as one line of JSON
// what it saw.
// Usage: node console.cjs LINK FILE, where the file holds the HTML of a hostile mail.
"use strict";

const fs = require("node:fs");

const { PASSWORD, connect, open, press, reader, report, row, signIn, walk } = require("./walk.cjs");

// What runs a script where a text becomes markup.
const MARKUP = `"><img src=x onerror="document.documentElement.dataset.ran='yes'">`;

walk(async (link, file) => {
  const { context, page, end } = await open();
  await signIn(page, link);
  report.clicksToSettings = report.clicks;
  const clipboard = await reader(context, link);
  const send = await connect(page, clipboard);
  await firstMail(page, send, clipboard);
  await find(page, send);
  await deleteAndUndo(page);
  await offline(page, context, send);
  await hostile(page, send, fs.readFileSync(file, "utf8"));
  await sessionOver(page, context);
  report.ran = await page.evaluate(() => document.documentElement.dataset.ran ?? "");
  report.nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  await end();
});

async function firstMail(page, send, clipboard) {
  const html = "<h1>Hello</h1><p>Your code is <b>481516</b>.</p>";
  await send({ subject: "Your sign-in code", text: "Your code is 481516.", html });
  await row(page, "Your sign-in code").waitFor();
  await press(page, "c");
  await page.getByText("Copied 481516").waitFor();
  report.code = await clipboard();
  report.keysToCode = report.keys;
  await press(page, "Enter");
  const frame = page.frameLocator('iframe[title="Preview of the message"]');
  await frame.getByText("Hello").waitFor();
  await press(page, "2");
  await page.getByRole("region", { name: "Text" }).getByText("Your code is 481516.").waitFor();
  // It counts as read after a moment in view.
  await page.getByText("1 message, 0 unread").waitFor();
  await press(page, "1");
}

async function find(page, send) {
  for (let number = 1; number <= 3; number++) {
    await send({ subject: `Order ${number}`, to: `buyer${number}@example.com`, text: "Thanks." });
  }
  await row(page, "Order 3").waitFor();
  await press(page, "/");
  await page.keyboard.type("BUYER2");
  await page.getByText("1 found").waitFor();
  report.found = await page.getByLabel("Messages").getByRole("listitem").allInnerTexts();
  await press(page, "Escape");
  await row(page, "Order 3").waitFor();
}

async function deleteAndUndo(page) {
  await row(page, "Order 1").click();
  await page.getByRole("heading", { name: "Order 1" }).waitFor();
  await press(page, "#");
  await row(page, "Order 1").waitFor({ state: "detached" });
  // In focus it stays, however slow the machine is.
  await page.getByRole("button", { name: "Undo" }).focus();
  await press(page, "Enter");
  await row(page, "Order 1").waitFor();
  await press(page, "j");
  await press(page, "k");
}

// A stream that was cut goes on, and nothing is there twice.
async function offline(page, context, send) {
  await context.setOffline(true);
  await send({ subject: "While you were away", text: "Hello." });
  await context.setOffline(false);
  await row(page, "While you were away").waitFor();
  report.away = await row(page, "While you were away").count();
}

async function hostile(page, send, html) {
  await send({
    subject: `Hostile ${MARKUP}`,
    from: { name: MARKUP, address: "eve@example.com" },
    text: `${MARKUP} javascript:alert(1)`,
    html,
    headers: { "X-Hostile": MARKUP },
    attachments: [{ filename: `${MARKUP}.html`, content: MARKUP, contentType: "text/html" }],
  });
  await row(page, "Hostile").click();
  await page.getByRole("heading", { name: "Hostile" }).waitFor();
  for (let tab = 7; tab >= 1; tab--) {
    await press(page, String(tab));
    await page.locator('[role="tab"][aria-selected="true"]').nth(0).waitFor();
    await page.waitForTimeout(250);
  }
  await page.frameLocator('iframe[title="Preview of the message"]').locator("body").waitFor();
  report.links = await page.evaluate(() =>
    [...document.links].map((link) => link.protocol).filter((it) => !/^(https?|mailto):$/.test(it)),
  );
}

async function sessionOver(page, context) {
  await context.clearCookies();
  await press(page, "r");
  const dialog = page.getByRole("dialog", { name: "Your session is over" });
  await dialog.getByLabel("Password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Hostile" }).waitFor();
}
