// Forwarding in the web console: its addresses, what an inbox forwards by itself, and a server without a relay.
// Usage: node forwarding.cjs relay LINK AGREES WAITS, where the owner of the address AGREES does so by the mail
// that it gets, and that of WAITS never does; or node forwarding.cjs without LINK.
"use strict";

const { connect, open, reader, report, signIn, walk } = require("./walk.cjs");

const journeys = { relay, without };

walk(async (journey, link, ...emails) => {
  const { page, context, end } = await open();
  await signIn(page, link);
  await journeys[journey](page, await reader(context, link), ...emails);
  await end();
});

function goTo(page) {
  return page
    .getByRole("navigation", { name: "Areas" })
    .getByRole("link", { name: "Forwarding" })
    .click();
}

// The settings of the inbox that is the only one.
async function settings(page) {
  const inboxes = page.getByRole("navigation", { name: "Inboxes" });
  await inboxes.getByRole("link").first().click();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { name: "Automatic forwarding" }).waitFor();
}

async function relay(page, clipboard, agrees, waits) {
  const send = await connect(page, clipboard);
  await send({ subject: "Invoice 1", text: "x" });
  await send({ subject: "Hello", text: "x" });
  await goTo(page);
  await page.getByText("There are no addresses yet").waitFor();
  for (const email of [agrees, waits]) {
    await page.getByRole("button", { name: "Add an address" }).click();
    const dialog = page.getByRole("dialog", { name: "Add an address" });
    await dialog.getByLabel("E-mail").fill(email);
    await dialog.getByRole("button", { name: "Ask its owner" }).click();
    await dialog.waitFor({ state: "detached" });
  }
  const row = (name) => page.getByRole("row").filter({ hasText: name });
  await page.getByRole("button", { name: `Send another link to ${waits}` }).click();
  const wait = row(waits).getByRole("button", { name: /Send another link \(in \d+ seconds?\)/ });
  await wait.waitFor();
  report.waits = await wait.isDisabled();
  await row(agrees).getByText("Confirmed").waitFor();

  await settings(page);
  await page.getByLabel("Forward mail as it arrives").check();
  await page.getByLabel(agrees).check();
  report.offered = await page.getByLabel(waits).count();
  await page.getByText("Would have matched 2 of the last 2.").waitFor();
  await page.getByLabel("Subject contains").fill("INVOICE");
  await page.getByText("Would have matched 1 of the last 2.").waitFor();
  await page
    .getByRole("group", { name: "Only mail" })
    .locator("xpath=..")
    .getByRole("button", { name: "Save" })
    .click();
  await page.getByText("Saved").waitFor();
  await send({ subject: "Your invoice 2", text: "x" });
  await send({ subject: "Another", text: "x" });

  await goTo(page);
  const rules = page.getByRole("region", { name: "Inboxes that forward" });
  await rules.getByRole("cell").first().waitFor();
  report.rule = await rules.getByRole("cell").allInnerTexts();
  report.inbox = await rules.getByRole("rowheader").innerText();
  await page.getByRole("button", { name: `Delete ${agrees}` }).click();
  const sure = page.getByRole("dialog", { name: "Delete address" });
  report.loses = await sure.getByRole("paragraph").innerText();
  await sure.getByRole("button", { name: "Delete address" }).click();
  await rules.getByText("Off").waitFor();
  report.left = await page.getByRole("region", { name: "Forwarding" }).getByRole("rowheader").allInnerTexts();
}

async function without(page) {
  const missing = page.getByText("This server has no relay");
  await goTo(page);
  await missing.waitFor();
  const button = page.getByRole("button", { name: "Add an address" });
  report.adds = await button.isEnabled();
  await settings(page);
  await missing.waitFor();
  report.enables = await page.getByLabel("Forward mail as it arrives").isEnabled();
}
