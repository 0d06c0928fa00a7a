// Every screen of the web console, and every dialog, with the way there. A name is that of its picture.
"use strict";

// Where a screen is in an installation that `fill` filled, and what is there once it is complete.
function screens({ empty, full, hook, messages, idp, event, mock, call, object }) {
  const [newest] = messages;
  const invoice = messages.find((message) => message.subject.startsWith("Invoice"));
  const reading = (tab, { id } = newest) => `/inboxes/${full}?message=${id}&tab=${tab}`;
  return [
    ["waiting", `/inboxes/${empty}`, "main dl"],
    ["list", `/inboxes/${full}`, "[data-message]"],
    ["nothing-found", `/inboxes/${full}?q=nobody`, "section h2"],
    ["message-html", `/inboxes/${full}?message=${newest.id}`, "iframe"],
    ["message-text", reading("text"), "[role=tabpanel] pre"],
    ["message-source", reading("source"), "[role=tabpanel] pre"],
    ["message-headers", reading("headers"), "[role=tabpanel] input"],
    ["message-raw", reading("raw"), "[role=tabpanel] pre"],
    ["message-files", reading("files", invoice), "[role=tabpanel] a"],
    ["message-links", reading("links"), "[role=tabpanel] a"],
    ["message-checks", reading("checks"), "[role=tabpanel] [role=meter]"],
    ["connect", `/inboxes/${full}/connect`, "main dl"],
    ["inbox-settings", `/inboxes/${full}/settings`, "main form"],
    ["inboxes", "/inboxes", "main tbody tr"],
    ["projects", "/projects", "main tbody tr"],
    ["webhooks", "/webhooks", "main tbody tr"],
    ["webhook", `/webhooks/${hook}`, "main li"],
    ["forwarding", "/forwarding", "main section h2"],
    ["idps", "/idps", "main tbody tr"],
    ["idp-connect", `/idps/${idp}/overview`, "main dl"],
    ["idp-saml", `/idps/${idp}/saml`, "main form"],
    ["idp-users", `/idps/${idp}/users`, "main tbody tr"],
    ["idp-faults", `/idps/${idp}/faults`, "main section:last-of-type tbody tr"],
    ["idp-activity", `/idps/${idp}/activity?entry=${event}`, "main pre"],
    ["idp-settings", `/idps/${idp}/settings`, "main form"],
    ["mocks", "/mocks", "main tbody tr"],
    ["mocks-new", "/mocks/new", "main li"],
    ["mock-connect", `/mocks/${mock}/overview`, "main dl"],
    ["mock-calls", `/mocks/${mock}/calls?entry=${call}`, "main pre:visible"],
    ["mock-webhooks", `/mocks/${mock}/webhooks`, "main li"],
    ["mock-objects", `/mocks/${mock}/objects?entry=${object}`, "main pre:visible"],
    ["mock-scenarios", `/mocks/${mock}/scenarios`, "main form"],
    ["mock-settings", `/mocks/${mock}/settings`, "main form"],
    ["team-members", "/team/members", "main tbody tr"],
    ["team-keys", "/team/keys", "main tbody tr"],
    ["team-plan", "/team/plan", "main dl, main table, main li"],
    ["team-audit", "/team/audit", "main li"],
    ["team-sso", "/team/sso", "main form"],
    ["team-settings", "/team/settings", "main form"],
    ["account-profile", "/account/profile", "main form, main dl"],
    ["account-password", "/account/password", "main form"],
    ["account-sessions", "/account/sessions", "main tbody tr"],
    ["account-preferences", "/account/preferences", "main fieldset, main [role=group]"],
    ["start", "/start", "main li"],
    ["no-such-page", "/no/such/page", "main h1"],
    ["inbox-gone", `/inboxes/${full.replace(/./g, "0")}`, "main h1"],
  ].map(screen);
}

// Those for whoever is not signed in.
const outside = [
  ["sign-in", "/sign-in", "main form"],
  ["sign-up", "/sign-up", "main form"],
  ["forgot", "/forgot", "main form"],
  ["link", "/link", "main h1"],
].map(screen);

function screen([name, path, ready]) {
  return { name, path, ready };
}

// Dialogs by the screen that they open over: their name, and the button or the key that opens them.
const dialogs = [
  ["help", "list", "?"],
  ["palette", "list", "Control+k"],
  ["forward", "message-html", "f"],
  ["new-inbox", "list", { name: "New inbox" }],
  ["delete-inbox", "inbox-settings", { name: "Delete inbox" }],
  ["rotate", "connect", { name: "Rotate credentials" }],
  ["new-project", "projects", { name: "New project" }],
  ["delete-project", "projects", { name: "Delete Back office" }],
  ["new-webhook", "webhooks", { name: "New webhook" }],
  ["delete-webhook", "webhooks", { name: "Delete webhook" }],
  ["new-idp", "idps", { name: "New identity provider" }],
  ["new-user", "idp-users", { name: "New user" }],
  ["delete-user", "idp-users", { name: "Delete Grace Hopper" }],
  ["arm-fault", "idp-faults", { name: "Arm clock_skew" }],
  ["clear-activity", "idp-activity", { name: "Clear" }],
  ["rotate-keys", "idp-settings", { name: "Rotate the keys" }],
  ["delete-idp", "idp-settings", { name: "Delete identity provider" }],
  ["new-mock", "mocks-new", { name: "New mock of Stripe" }],
  ["clear-mock", "mock-calls", { name: "Clear" }],
  ["trigger-event", "mock-objects", { name: "Trigger an event" }],
  ["reset-scenarios", "mock-scenarios", { name: "Reset all" }],
  ["rotate-mock", "mock-settings", { name: "Rotate all" }],
  ["delete-mock", "mock-settings", { name: "Delete API mock" }],
  ["invite", "team-members", { name: "Invite people" }],
  ["new-key", "team-keys", { name: "New key" }],
  ["revoke-key", "team-keys", { name: "Revoke CI" }],
  ["delete-team", "team-settings", { name: "Delete the team" }],
].map(([name, on, opens]) => ({ name, on, opens }));

async function show(page, home, { path, ready }) {
  await page.goto(new URL(path, home).href);
  await page.locator(ready).first().waitFor();
}

// Opens a dialog over its screen, which is shown already.
async function openDialog(page, { opens }) {
  if (typeof opens === "string") await page.keyboard.press(opens);
  else await page.getByRole("button", opens).first().click();
  await page.locator("dialog[open]").waitFor();
}

async function closeDialog(page) {
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
}

// The names of all screens, whatever is in the installation.
function names() {
  const ids = { empty: "0", full: "0", hook: "0", idp: "0", event: "0", mock: "0", call: "0", object: "0" };
  const nothing = { ...ids, messages: [{ id: "0", subject: "Invoice" }] };
  return [...screens(nothing), ...outside].map(({ name }) => name);
}

module.exports = { closeDialog, dialogs, names, openDialog, outside, screens, show };
