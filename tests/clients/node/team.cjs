// People of a team in the web console: invited, given roles and keys, removed; the team handed over and
// deleted; and one's own account.
// Usage: node team.cjs LINK, where LINK is the first-run link of a server without a relay at which anybody
// may sign up.
"use strict";

const { open, PASSWORD, report, signIn, walk } = require("./walk.cjs");

const TEAM = "My team";

walk(async (link) => {
  const { page, context, end } = await open();
  const at = (path) => new URL(path, link).href;
  await signIn(page, link);
  const links = await invite(page);
  await keys(page, at);
  await plan(page);
  await audit(page);
  const bob = await another(context);
  await join(bob, at, links.bob);
  await switchTeams(bob);
  const eve = await another(context);
  await joinAsNew(eve, at, links.eve);
  await member(eve, at);
  await promote(page, at, eve);
  await remove(page);
  await handOver(page);
  await deleteOwn(bob, at);
  await account(page, at, context);
  for (const one of [bob, eve]) {
    report.violations.push(...(await one.evaluate(() => window.violations)));
  }
  await end();
});

// A page of somebody else.
async function another(context) {
  const other = await context.browser().newContext({ viewport: { width: 1280, height: 800 } });
  const page = await other.newPage();
  await page.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", (event) => {
      window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => report.errors.push(String(error)));
  return page;
}

// Whether a page has a value anywhere: in what it shows, in fields, storages, or its address.
function holds(page, value) {
  return page.evaluate((value) => {
    const fields = [...document.querySelectorAll("input, textarea")].map((field) => field.value);
    const stores = [localStorage, sessionStorage].map((store) => JSON.stringify({ ...store }));
    const all = [document.documentElement.outerHTML, location.href, history.state, ...fields];
    return [...all, ...stores].some((text) => String(text).includes(value));
  }, value);
}

function place(page, name) {
  return page.getByRole("navigation", { name: "Team" }).getByRole("link", { name });
}

async function invite(page) {
  await page.getByRole("link", { name: "Team", exact: true }).click();
  await page.getByRole("button", { name: "Invite people" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite people" });
  await dialog.getByLabel("Mail addresses").fill("bob@example.com, eve@example.com\nnobody");
  await dialog.getByRole("button", { name: "Invite 3 people" }).click();
  await dialog.getByRole("alert").waitFor();
  // What was refused stays in the field.
  report.refused = await dialog.getByLabel("Mail addresses").inputValue();
  const [bob, eve] = await dialog.locator("li code").allInnerTexts();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Done" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("region", { name: "Open invitations" }).getByText("eve@").waitFor();
  report.linkStays = await holds(page, new URL(eve).searchParams.get("token"));
  return { bob, eve };
}

async function makeKey(page, name) {
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create" }).click();
  const dialog = page.getByRole("dialog", { name: "Save the key now" });
  const value = await dialog.getByRole("region", { name: "API key" }).innerText();
  return { dialog, value };
}

async function keys(page, at) {
  await place(page, "API keys").click();
  const { dialog, value } = await makeKey(page, "CI");
  const curl = await dialog.getByRole("region", { name: "Example" }).innerText();
  report.curl = curl.includes(value) && curl.includes(at("/api/inboxes"));
  for (let times = 0; times < 3; times++) await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  report.keyShown = (await dialog.isVisible()) && (await holds(page, value));
  await dialog.getByRole("button", { name: "I have saved it" }).click();
  await dialog.waitFor({ state: "detached" });
  report.keyStays = await holds(page, value);
  const headers = { authorization: `Bearer ${value}` };
  report.keyWorks = (await page.request.get(at("/api/inboxes"), { headers })).status();
  await page.evaluate(async (url) => {
    const body = JSON.stringify({ name: "Old", expiresInDays: 5 });
    const headers = { "content-type": "application/json" };
    await fetch(url, { method: "POST", body, headers });
  }, at("/api/api-keys"));
  await page.reload();
  await page.getByText("4 days left").waitFor();
  report.keyStays ||= await holds(page, value);
  await page.getByRole("button", { name: "Revoke Old" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke Old" }).click();
  await page.getByText("4 days left").waitFor({ state: "detached" });
}

async function plan(page) {
  await place(page, "Plan").click();
  await page.getByText("The plan is Unlimited.").waitFor();
  report.upgrades = await page.getByText(/upgrade|Other plans/i).count();
}

async function audit(page) {
  await place(page, "Audit log").click();
  const log = page.getByRole("region", { name: "Changes of what is the team's" });
  await page.getByLabel("Filter by person").fill("key created");
  await log.getByRole("link").filter({ hasText: "CI" }).click();
  report.entry = JSON.parse(await page.getByRole("region", { name: "Entry" }).innerText());
}

// Somebody who is signed in joins by the button alone.
async function join(page, at, link) {
  await page.goto(at("/sign-up"));
  await page.getByLabel("E-mail").fill("bob@example.com");
  await page.getByLabel("New password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create an account" }).click();
  await page.getByText("bob's team").waitFor();
  await page.goto(at(new URL(link).pathname + new URL(link).search));
  await page.getByRole("heading", { name: `Join the team ${TEAM}` }).waitFor();
  report.joinUrl = page.url();
  await page.getByRole("button", { name: "Join the team" }).click();
  await page.getByLabel("SMTP settings").waitFor();
}

async function switchTeams(page) {
  for (const [from, to] of [
    [TEAM, "bob's team"],
    ["bob's team", TEAM],
  ]) {
    await page.locator("summary").filter({ hasText: from }).click();
    await page.getByRole("button", { name: to }).click();
    await page.locator("summary").filter({ hasText: to }).waitFor();
  }
  await page.getByLabel("SMTP settings").waitFor();
}

async function joinAsNew(page, at, link) {
  await page.goto(at(new URL(link).pathname + new URL(link).search));
  await page.getByLabel("Name").fill("Eve");
  await page.getByLabel("New password").fill(PASSWORD);
  await page.getByRole("button", { name: "Join the team" }).click();
  await page.getByLabel("SMTP settings").waitFor();
}

// What a member can't use is not there, and says so where its address is opened.
async function member(page, at) {
  await page.getByRole("link", { name: "Team", exact: true }).click();
  await page.getByRole("region", { name: "Members" }).getByText("Eve").waitFor();
  report.memberPlaces = await page
    .getByRole("navigation", { name: "Team" })
    .getByRole("link")
    .allInnerTexts();
  const button = page.getByRole("button", { name: "Invite people" });
  report.memberInvites = [await button.isDisabled(), await button.getAttribute("title")];
  report.memberSees = [];
  for (const part of ["keys", "audit", "sso"]) {
    await page.goto(at(`/team/${part}`));
    await page.getByRole("heading", { name: "You may not see this" }).waitFor();
    report.memberSees.push(await page.getByText("Admins and the owner").count());
  }
}

async function promote(page, at, eve) {
  await place(page, "Members").click();
  await page.getByLabel("Role of Eve").selectOption("admin");
  await eve.goto(at("/team/keys"));
  const { dialog } = await makeKey(eve, "Eve's script");
  await dialog.getByRole("button", { name: "I have saved it" }).click();
}

async function remove(page) {
  await page.getByRole("button", { name: "Remove Eve" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove Eve" }).click();
  const left = page.getByRole("dialog", { name: "Keys that Eve made" });
  await left.getByRole("button", { name: "Revoke Eve's script" }).click();
  await left.getByText("Eve's script").waitFor({ state: "detached" });
  await left.getByRole("button", { name: "Done" }).click();
}

async function handOver(page) {
  await page.getByRole("button", { name: "Hand the team over to bob" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Hand the team over to bob" }).click();
  await dialog.waitFor({ state: "detached" });
  await place(page, "Settings").click();
  const button = page.getByRole("button", { name: "Delete the team" });
  await button.waitFor();
  report.formerOwnerDeletes = !(await button.isDisabled());
}

async function deleteOwn(page, at) {
  await page.goto(at("/account/profile"));
  await page.getByRole("button", { name: "Switch to bob's team" }).click();
  await page.locator("summary").filter({ hasText: "bob's team" }).waitFor();
  await page.goto(at("/team/settings"));
  await page.getByRole("button", { name: "Delete the team" }).click();
  const dialog = page.getByRole("dialog");
  const button = dialog.getByRole("button", { name: "Delete the team" });
  report.deletesUnnamed = !(await button.isDisabled());
  await dialog.getByLabel("Name").fill("bob's team");
  await button.click();
  await page.getByLabel("SMTP settings").waitFor();
  report.teamAfter = await page.locator(".team").innerText();
}

async function account(page, at, context) {
  const other = await another(context);
  await other.goto(at("/sign-in"));
  await other.getByLabel("E-mail").fill("ada@example.com");
  await other.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.getByLabel("SMTP settings").waitFor();
  await page.goto(at("/account/sessions"));
  const rows = page.getByRole("region", { name: "Sessions" }).locator("tbody tr");
  await rows.nth(1).waitFor();
  report.sessions = [await rows.count(), await page.getByText("This session").count()];
  await page.getByRole("button", { name: "End all others" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End all others" }).click();
  await rows.nth(1).waitFor({ state: "detached" });
  await other.reload();
  await other.getByRole("heading", { name: "Sign in to Trapline" }).waitFor();
  await page.goto(at("/account/preferences"));
  await page.getByRole("group", { name: "Time zone" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("group", { name: "Single-key shortcuts" }).getByText("Off").click();
  await page.getByRole("group", { name: "Time zone" }).getByText("UTC").click();
  await page.reload();
  await page.getByRole("group", { name: "Time zone" }).waitFor();
  await page.keyboard.press("?");
  report.helpWithoutKeys = await page.getByRole("dialog").count();
  await page.goto(at("/account/sessions"));
  await page.getByText(" UTC").first().waitFor();
  await page.goto(at("/account/password"));
  await page.getByLabel("Password until now").fill("wrong");
  await page.getByLabel("New password").fill("another horse battery");
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("is not the password").waitFor();
  await page.getByLabel("Password until now").fill(PASSWORD);
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("The password is changed").waitFor();
  report.passwordStays = await holds(page, "another horse battery");
}
