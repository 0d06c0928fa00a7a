// Walks the table of screens and states of the web console, each state by what causes it in earnest, and prints
// what was not as it should be.
// Usage: node states.cjs FORM LINK, where FORM is `short` or `full`, and LINK the first-run link of a server whose
// clock can be put ahead.
"use strict";

const { ask, fill } = require("./fill.cjs");
const { gate, have } = require("./gate.cjs");
const { closeDialog, screens } = require("./screens.cjs");
const { EMAIL, PASSWORD, open, report, signIn, walk } = require("./walk.cjs");

// Milliseconds in which a state must show.
const SHOWN = 20_000;
const UNREACHABLE = "The server cannot be reached.";
// Screens that show nothing of the server's, or only what is known of the session.
const OWN = ["no-such-page", "team-settings", "account-profile", "account-password", "account-preferences"];
// Those whose data the sidebar has fetched already.
const KNOWN = ["connect", "inbox-settings", "projects", "start"];
// Where all share what is shown, one of each kind.
const KINDS = ["list", "message-text", "connect", "webhooks", "webhook", "idp-users", "mock-calls", "start"];

walk(async (form, link) => {
  const way = await gate(link);
  const { page, end } = await open();
  const walker = { form, page, way, home: way.url };
  report.wrong = [];
  await signIn(page, there(way.url, link));
  await empty(walker);
  walker.there = await fill(page);
  walker.all = screens(walker.there).filter(({ name }) => name !== "inbox-gone");
  for (const screen of walker.all) await to(page, screen.path, screen.ready);
  await loading(walker);
  await nothingFound(walker);
  await refused(walker);
  await overThePlan(walker);
  await tooOften(walker);
  await offline(walker);
  await sessionOver(walker);
  await gone(walker);
  way.end();
  await end();
});

// The same path at another address.
function there(home, link) {
  const { pathname, search } = new URL(link);
  return new URL(pathname + search, home).href;
}

// Goes to a path as a link of the page does.
async function to(page, path, ready) {
  await page.evaluate((path) => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  if (ready) await page.locator(ready).first().waitFor();
}

// Whether a state shows; what does not is reported.
async function shows(state, name, target, timeout = SHOWN) {
  const shown = target.first().waitFor({ timeout });
  await shown.catch(() => report.wrong.push(`${name} does not show ${state}`));
}

function shared({ form, all }) {
  const some = all.filter(({ name }) => !OWN.includes(name));
  return form === "full" ? some : some.filter(({ name }) => KINDS.includes(name));
}

// Before anything was made.
async function empty({ page }) {
  const texts = {
    "/projects": "There are no projects yet",
    "/webhooks": "There are no webhooks yet",
    "/idps": "There are no identity providers yet",
    "/mocks": "There are no API mocks yet",
    "/team/members": "Nobody is invited at the moment.",
    "/": "Waiting for mail",
  };
  for (const key of await ask(page, "GET", "/api/api-keys")) {
    await ask(page, "DELETE", `/api/api-keys/${key.id}`);
  }
  for (const project of await ask(page, "GET", "/api/projects")) {
    await ask(page, "DELETE", `/api/projects/${project.id}`);
  }
  texts["/team/keys"] = "There are no API keys";
  const hook = await ask(page, "POST", "/api/webhooks", { url: "http://127.0.0.1:8099/" });
  await to(page, `/webhooks/${hook.id}`);
  await shows("that it is empty", "webhook", page.getByText("Nothing was delivered yet"));
  await ask(page, "DELETE", `/api/webhooks/${hook.id}`);
  const idp = await ask(page, "POST", "/api/idps", { name: "Empty" });
  const mock = await ask(page, "POST", "/api/mocks", { name: "Empty", provider: "stripe" });
  const parts = {
    [`/idps/${idp.id}/users`]: "There are no test users yet",
    [`/idps/${idp.id}/faults`]: "Nothing is asked for",
    [`/idps/${idp.id}/activity`]: "Nothing happened here yet",
    [`/mocks/${mock.id}/calls`]: "Nothing was called yet",
    [`/mocks/${mock.id}/webhooks`]: "Nothing was sent yet",
    [`/mocks/${mock.id}/objects`]: "Nothing is kept yet",
  };
  for (const [path, text] of Object.entries(parts)) {
    await to(page, path);
    await shows("that it is empty", path, page.getByText(text));
  }
  await ask(page, "DELETE", `/api/idps/${idp.id}`);
  await ask(page, "DELETE", `/api/mocks/${mock.id}`);
  for (const [path, text] of Object.entries(texts)) {
    await to(page, path);
    await shows("that it is empty", path, page.getByText(text));
  }
}

// A network on which each answer takes seconds.
async function loading({ page, way, all }) {
  way.slow(3_000);
  const fetched = all.filter(({ name }) => !OWN.includes(name) && !KNOWN.includes(name));
  for (const { name, path } of fetched) {
    await to(page, "/no/such/page");
    await to(page, path);
    const rows = page.locator('main [aria-label="Loading"], main .skeleton');
    await shows("that it is loading", name, rows, 2_500);
  }
  way.slow(0);
  // What is on its way would be overtaken by what comes now.
  way.cut();
}

async function nothingFound({ page, there }) {
  const found = [
    [`/idps/${there.idp}/faults`, "Filter faults", "No fault matches"],
    [`/mocks/${there.mock}/calls`, "Filter by path", "No call matches"],
    ["/mocks/new", "Search providers", "No provider matches"],
  ];
  for (const [path, field, text] of found) {
    await to(page, path);
    await page.getByLabel(field).fill("zzz");
    await shows("that nothing is found", path, page.getByText(text));
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByText(text).waitFor({ state: "detached" });
  }
  const texts = {
    [`/inboxes/${there.full}?q=nobody`]: "Nothing matches the filter",
    "/inboxes?q=nobody": "No inbox matches",
  };
  for (const [path, text] of Object.entries(texts)) {
    await to(page, path);
    await shows("that nothing is found", path, page.getByText(text));
    await shows("how to clear the filter", path, page.getByRole("button", { name: /Clear/ }));
  }
  await to(page, "/team/audit", "main li");
  await page.getByLabel("Filter by person").fill("nobody");
  await shows("that nothing is found", "audit", page.getByText("No entry matches"));
  await page.keyboard.press("Control+k");
  await page.locator("dialog input:focus").fill("zzz");
  await shows("that nothing is found", "palette", page.getByText("No inbox and no command"));
  await closeDialog(page);
}

// A member: what is not allowed is disabled or not there, and says who may.
async function refused({ page, home, all }) {
  const { link } = await ask(page, "POST", "/api/team/invitations", {
    email: "eve@example.com",
    role: "member",
  });
  const context = await page.context().browser().newContext();
  const eve = await context.newPage();
  await eve.goto(there(home, link));
  await eve.getByLabel("Name").fill("Eve");
  await eve.getByLabel("New password").fill(PASSWORD);
  await eve.getByRole("button", { name: "Join the team" }).click();
  await eve.getByLabel("SMTP settings").waitFor();
  for (const { name, path, ready } of all) {
    await to(eve, path);
    if (["team-keys", "team-audit", "team-sso"].includes(name)) {
      await shows("who may see it", name, eve.getByText("Admins and the owner of the team can."));
    } else await shows("what a member may see", name, eve.locator(ready));
  }
  await to(eve, "/team/members", "main tbody tr");
  await disabled(eve, "Invite people");
  await to(eve, "/team/settings", "main form");
  await disabled(eve, "Delete the team");
  await context.close();
}

async function disabled(page, name) {
  const button = page.getByRole("button", { name });
  const why = await button.getAttribute("title");
  if (!(await button.isDisabled()) || !why) report.wrong.push(`${name} is not refused with a reason`);
}

// A team on the Free plan that has all of it in use.
async function overThePlan({ page }) {
  await have(`run ${JSON.stringify(["plan", "set", "free"])}`);
  while ((await ask(page, "GET", "/api/team/usage")).plan.id !== "free") await page.waitForTimeout(250);
  const { length } = await ask(page, "GET", "/api/inboxes");
  for (let more = length; more < 10; more++) {
    await ask(page, "POST", "/api/inboxes", { name: `More ${more}` });
  }
  await page.reload();
  await newInbox(page, "that the plan allows no more", "10 of 10 are in use.");
  const upgrade = page.getByRole("dialog").getByRole("link", { name: "More with another plan" });
  await shows("the other plans", "new inbox", upgrade);
  await closeDialog(page);
  await to(page, "/webhooks", "main tbody tr");
  await shows("that the plan has none", "webhooks", page.getByText("has no webhooks: nothing"));
  await page.getByRole("button", { name: /^Send a test/ }).first().click();
  const alert = page.getByRole("main").getByRole("alert");
  await shows("that a test is not in the plan", "webhooks", alert);
  await to(page, "/team/plan");
  await shows("what is in use", "plan", page.getByText("10 of 10"));
  await have(`run ${JSON.stringify(["plan", "set", "unlimited"])}`);
  while ((await ask(page, "GET", "/api/team/usage")).plan.id === "free") await page.waitForTimeout(250);
}

async function newInbox(page, state, text) {
  const dialog = await wishInbox(page);
  await dialog.getByRole("button", { name: "Create" }).click();
  await shows(state, "new inbox", dialog.getByText(text));
  await keepsTheName(dialog);
}

async function wishInbox(page) {
  await page.getByRole("button", { name: "New inbox" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("One too many");
  return dialog;
}

async function keepsTheName(dialog) {
  if ((await dialog.getByLabel("Name").inputValue()) !== "One too many") {
    report.wrong.push("new inbox loses what was typed");
  }
}

// More inboxes within a minute than the server lets a team make. There is room for another one every three seconds:
// where that comes between, the wish is granted, and there is another wish.
async function tooOften({ page }) {
  const more = (name) => ask(page, "POST", "/api/inboxes", { name });
  for (let isMade = true; isMade; ) {
    const dialog = await wishInbox(page);
    while (await more("Many").then(() => true, () => false));
    await dialog.getByRole("button", { name: "Create" }).click();
    const told = dialog.getByText(/Try again in \d+ seconds?\./).waitFor();
    const closed = dialog.waitFor({ state: "hidden" });
    isMade = await Promise.any([told.then(() => false), closed.then(() => true)]);
    if (!isMade) await keepsTheName(dialog);
  }
  await closeDialog(page);
}

// The server is stopped, and started again at another address behind the same name.
async function offline(walker) {
  const { page, way, there } = walker;
  const some = shared(walker);
  await to(page, `/inboxes/${there.full}`, "[data-message]");
  await have("stop");
  await shows("since when it is offline", "list", page.getByText("Reconnecting, as of"));
  await shows("what was there", "list", page.locator("[data-message]"));
  await to(page, `/inboxes/${there.full}/connect`);
  for (const { name, path } of some) {
    await to(page, "/no/such/page");
    await to(page, path);
    await shows("that it is offline", name, page.locator("main").getByText(UNREACHABLE));
  }
  await to(page, "/projects");
  await page.getByRole("button", { name: "New project" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Typed offline");
  await dialog.getByRole("button", { name: "Create" }).click();
  await shows("that nothing happened", "new project", dialog.getByText(UNREACHABLE));
  await have("start");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.waitFor({ state: "detached" });
  await shows("what was typed offline", "projects", page.getByRole("rowheader", { name: "Typed offline" }));
}

// The session is ended from another browser.
async function sessionOver(walker) {
  const { page, home, form } = walker;
  for (const { name, path, ready } of shared(walker)) {
    await to(page, "/no/such/page");
    const other = await page.context().browser().newContext();
    const elsewhere = await other.newPage();
    await elsewhere.goto(`${home}/sign-in`);
    await elsewhere.getByLabel("E-mail").fill(EMAIL);
    await elsewhere.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await elsewhere.getByRole("button", { name: "Sign in", exact: true }).click();
    await elsewhere.getByRole("navigation", { name: "Areas" }).waitFor();
    await ask(elsewhere, "DELETE", "/api/auth/sessions");
    await other.close();
    await to(page, path);
    const dialog = page.getByRole("dialog", { name: "Your session is over" });
    await shows("that the session is over", name, dialog);
    await dialog.getByLabel("Password").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "detached" });
    await shows("what is there after signing in", name, page.locator(ready));
    if (form === "short" && name === "connect") return;
  }
}

// Deleted by somebody else, and expired.
async function gone({ page, there }) {
  const [newest] = there.messages;
  const [run] = (await ask(page, "GET", "/api/inboxes?disposable=true")).filter(({ name }) => name === "run-4711");
  const path = `/inboxes/${run.id}`;
  await ask(page, "DELETE", `/api/messages/${newest.id}`);
  await ask(page, "DELETE", `/api/webhooks/${there.hook}`);
  await to(page, "/no/such/page");
  await to(page, `/inboxes/${there.full}?message=${newest.id}`);
  await shows("that it is gone", "message", page.getByText("This message is gone"));
  await to(page, `/webhooks/${there.hook}`);
  await shows("that it is gone", "webhook", page.getByText("This webhook is gone"));
  const mock = await ask(page, "POST", "/api/mocks", {
    name: "Short",
    provider: "stripe",
    expiresInMinutes: 1,
  });
  await ask(page, "DELETE", `/api/idps/${there.idp}`);
  await to(page, `/idps/${there.idp}/users`);
  await shows("that it is gone", "idp", page.getByText("This identity provider is gone"));
  await shows("the way back", "idp", page.getByRole("link", { name: "All identity providers" }));
  await to(page, path);
  await shows("when it ends", "inbox", page.getByText(/Ends /));
  await have("jump 4000");
  await page.keyboard.press("r");
  await to(page, `/mocks/${mock.id}/calls`);
  await shows("that it has expired", "mock", page.getByText("This API mock is gone"));
  for (const place of ["", "/connect", "/settings"]) {
    await to(page, path + place);
    await shows("that it has expired", `inbox${place}`, page.getByText("This inbox is gone"));
    await shows("the way back", `inbox${place}`, page.getByRole("link", { name: "To the inboxes" }));
  }
}
