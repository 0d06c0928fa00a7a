// The ways into the web console: the first-run link, an operator's link, signing up and in, and back out.
// Usage: node people.cjs STEPS LINK, where STEPS is `begin` with the first-run link, and then `again` with a
// link of the operator for Ada; or `later` with the first-run link, with nothing typed.
"use strict";

const { open, PASSWORD, report, said, walk } = require("./walk.cjs");

const ADA = { email: "ada@example.com", password: PASSWORD };
// The address of the owner until it is changed to Ada's.
const FIRST = "first@example.com";
const EVE = { email: "eve@example.com", password: "battery horse correct" };
const NEW = "another horse battery";

walk(async (steps, link) => {
  const { page, end } = await open();
  if (steps === "begin") {
    await becomeOwner(page, link);
    await changeOneself(page, link);
    await signOut(page);
    await forget(page);
    await signUp(page);
    await takeTurns(page);
  } else if (steps === "later") {
    await becomeOwnerAtOnce(page, link);
  } else {
    await chooseNewPassword(page, link);
    await goOn(page, link);
    await goOnBySso(page, link);
    await tooOften(page, link);
  }
  await end();
});

async function fill(page, who) {
  await page.getByLabel("E-mail").fill(who.email);
  await page.getByLabel("Password", { exact: true }).fill(who.password);
}

// The address bar loses the token before anything is pressed, and only pressing uses it.
async function becomeOwner(page, link) {
  for (let times = 0; times < 2; times++) {
    await page.goto(link);
    await page.getByRole("button", { name: "Sign in as owner" }).waitFor();
    report.linkUrl = page.url();
  }
  await page.reload();
  await page.getByRole("heading", { name: "Open the link again" }).waitFor();
  await page.goto(link);
  await page.getByLabel("E-mail").fill(FIRST);
  await page.getByLabel("New password").fill("password123");
  await page.getByRole("button", { name: "Sign in as owner" }).click();
  report.badPassword = await page.locator(".field p").innerText();
  await page.getByLabel("New password").fill(ADA.password);
  await page.getByRole("button", { name: "Sign in as owner" }).click();
  await page.getByLabel("SMTP settings").waitFor();
  await page.goto(link);
  await page.getByRole("heading", { name: "This link does not work any more" }).waitFor();
  await page.goto(new URL("/", link).href);
  await page.getByLabel("SMTP settings").waitFor();
}

// A name changes at once, an address by its link: where no mail is sent, the form leads to the link's page.
async function changeOneself(page, link) {
  const profile = new URL("/account/profile", link).href;
  await page.goto(profile);
  await page.getByLabel("Name").fill("ada lovelace");
  await page.getByRole("button", { name: "Change the name" }).click();
  await said(page, "Saved");
  await page.locator("summary").filter({ hasText: "ada lovelace" }).waitFor();
  const change = page.getByRole("button", { name: "Change the e-mail" });
  report.refusals = [];
  for (const [email, password] of [[FIRST, PASSWORD], [ADA.email, "not the password"]]) {
    await page.getByLabel("New e-mail").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await change.click();
    report.refusals.push(await page.locator(".field p").innerText());
  }
  await page.getByLabel("Password", { exact: true }).fill(ADA.password);
  await change.click();
  const button = page.getByRole("button", { name: "Change the address" });
  await button.waitFor();
  report.newEmail = await page.getByLabel("E-mail").inputValue();
  report.newEmailUrl = page.url();
  report.newEmailPasswords = await page.getByLabel("Password").count();
  await button.click();
  await page.getByLabel("SMTP settings").waitFor();
  await page.goto(profile);
  await page.getByRole("main").getByText(ADA.email).first().waitFor();
}

// Address and password are a step that can wait, which the sidebar names until it is made.
async function becomeOwnerAtOnce(page, link) {
  await page.goto(link);
  await page.getByRole("button", { name: "Sign in as owner" }).click();
  await page.getByLabel("SMTP settings").waitFor();
  const step = page.getByRole("link", { name: "Set e-mail and password" });
  await page.goto(new URL("/account/password", link).href);
  report.passwordFields = await page.getByLabel("Password").count();
  await page.getByRole("main").getByRole("link", { name: "Set e-mail and password" }).click();
  await page.getByLabel("E-mail").fill(ADA.email);
  await page.getByLabel("New password").fill("password123");
  const button = page.getByRole("button", { name: "Set e-mail and password" });
  await button.click();
  report.badPassword = await page.locator(".field p").innerText();
  await page.getByLabel("New password").fill(ADA.password);
  await button.click();
  await page.getByRole("button", { name: "Change the e-mail" }).waitFor();
  report.stepsLeft = await step.count();
  await page.locator("summary").filter({ hasText: "Owner" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Trapline" }).waitFor();
  await fill(page, ADA);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByLabel("SMTP settings").waitFor();
}

async function signOut(page) {
  await page.locator("summary").filter({ hasText: /ada|eve/ }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Trapline" }).waitFor();
}

async function forget(page) {
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByLabel("E-mail").fill(ADA.email);
  await page.getByRole("button", { name: "Send a link" }).click();
  await page.getByRole("heading", { name: "No mail was sent" }).waitFor();
  report.forgot = await page.locator("main p").innerText();
  await page.getByRole("link", { name: "To the sign-in" }).click();
}

async function signUp(page) {
  await page.getByRole("link", { name: "Create an account" }).click();
  await page.getByLabel("E-mail").fill(ADA.email);
  await page.getByLabel("New password").fill(EVE.password);
  await page.getByRole("button", { name: "Create an account" }).click();
  await page.getByText("is somebody's already").waitFor();
  await page.getByLabel("E-mail").fill(EVE.email);
  await page.getByRole("button", { name: "Create an account" }).click();
  await page.getByText("eve's team").waitFor();
}

// Whoever signs in next in the same tab is where they belong, and does not even ask for another's inbox.
async function takeTurns(page) {
  report.missed = 0;
  page.on("response", (answer) => (report.missed += answer.status() === 404 ? 1 : 0));
  const isThere = (url) => !["/", "/sign-up", "/sign-in"].includes(url.pathname);
  await page.waitForURL(isThere);
  report.turns = [new URL(page.url()).pathname];
  for (const who of [ADA, EVE]) {
    await signOut(page);
    await fill(page, who);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL(isThere);
    await page.getByRole("main").getByRole("heading").first().waitFor();
    report.turns.push(new URL(page.url()).pathname);
  }
}

async function chooseNewPassword(page, link) {
  await page.goto(link);
  report.resetEmail = await page.getByLabel("E-mail").inputValue();
  await page.getByLabel("New password").fill(NEW);
  await page.getByRole("button", { name: "Set the password and sign in" }).click();
  await page.getByLabel("SMTP settings").waitFor();
  report.inbox = new URL(page.url()).pathname;
}

// After signing in somebody is where they wanted to go, and never elsewhere.
async function goOn(page, link) {
  report.ends = [];
  for (const next of [`${report.inbox}/connect`, "//evil.test/", "https://evil.test/", "/docs/"]) {
    await page.context().clearCookies();
    await page.goto(new URL(`/sign-in?next=${encodeURIComponent(next)}`, link).href);
    await fill(page, { ...ADA, password: NEW });
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/inboxes/"));
    report.ends.push(page.url());
  }
}

// Where somebody wants to go outlasts the way through a provider, even one that leads nowhere.
async function goOnBySso(page, link) {
  await page.context().clearCookies();
  const next = encodeURIComponent(`${report.inbox}/connect`);
  await page.goto(new URL(`/sign-in?next=${next}`, link).href);
  await page.getByRole("button", { name: "Continue with SSO" }).click();
  report.ssoFields = await page.locator("input").count();
  await page.getByLabel("E-mail").fill("nobody@nowhere.test");
  await page.getByRole("button", { name: "Continue with SSO" }).click();
  await page.waitForURL((url) => url.pathname === "/api/auth/sso");
  await page.goto(new URL("/", link).href);
  await fill(page, { ...ADA, password: NEW });
  // Of an account's sign-ins a few a minute are free, and those before were many.
  const isIn = () => page.waitForURL((url) => url.pathname.startsWith("/inboxes/"), { timeout: 15_000 });
  do await page.getByRole("button", { name: "Sign in", exact: true }).click();
  while (!(await isIn().then(() => true, () => false)));
  report.endsBySso = page.url();
}

async function tooOften(page, link) {
  await page.context().clearCookies();
  await page.goto(new URL("/", link).href);
  await fill(page, { ...EVE, password: "wrong" });
  const waits = page.getByRole("button", { name: /^Sign in \(in \d+ seconds?\)$/ });
  while ((await waits.count()) === 0) {
    await page.getByRole("button", { name: /^Sign in/ }).click({ timeout: 5_000 }).catch(() => {});
  }
  report.waits = await waits.isDisabled();
}
