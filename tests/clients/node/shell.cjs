// What is around every screen of the web console: counts of other inboxes, and the palette.
// Usage: node shell.cjs JOURNEY LINK, where JOURNEY is `counts` or `palette`, with the first-run link; or `open`
// with the address of a server at which nobody signs in.
"use strict";

const { open, press, report, signIn, walk } = require("./walk.cjs");

const journeys = { counts, open: nobodySignsIn, palette };

walk(async (journey, link) => {
  const { page, end } = await open();
  if (journey === "open") await page.goto(link);
  else await signIn(page, link);
  await journeys[journey](page);
  await end();
});

// Asks the API as the person who is signed in.
function ask(page, method, path, body) {
  return page.evaluate(
    async ([method, path, body]) => {
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
      return answer.status === 204 ? null : answer.json();
    },
    [method, path, body],
  );
}

function sidebar(page, name) {
  return page.getByRole("navigation", { name: "Inboxes" }).getByRole("link", { name });
}

async function counts(page) {
  const [first] = await ask(page, "GET", "/api/inboxes");
  const other = await ask(page, "POST", "/api/inboxes", { name: "Other" });
  const gone = await ask(page, "POST", "/api/inboxes", { name: "Gone soon" });
  await page.reload();
  await sidebar(page, "Gone soon").waitFor();
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  // Whatever the page does not fetch the stream tells.
  for (let sent = 0; sent < 3; sent++) await ask(page, "POST", `/api/inboxes/${other.id}/test-message`);
  await sidebar(page, "Other").filter({ hasText: /3\s*unread/ }).waitFor();
  await ask(page, "PATCH", `/api/inboxes/${other.id}/messages`);
  await sidebar(page, "Other").filter({ hasNotText: "unread" }).waitFor();
  const looks = ["/api/inboxes", `/api/inboxes/${other.id}`];
  report.looks = asked.filter((path) => looks.includes(path)).length;

  // What another inbox has unread says nothing of this one.
  await ask(page, "POST", `/api/inboxes/${first.id}/test-message`);
  await page.locator("[data-message]").waitFor();
  await ask(page, "POST", `/api/inboxes/${other.id}/test-message`);
  await sidebar(page, "Other").filter({ hasText: /1\s*unread/ }).waitFor();
  await ask(page, "PATCH", `/api/inboxes/${other.id}/messages`);
  await sidebar(page, "Other").filter({ hasNotText: "unread" }).waitFor();
  report.unread = await page.locator("[data-message]").filter({ hasText: "Unread" }).count();

  // A stream that is opened anew tells of no inbox that is gone: it would not be opened at all.
  await ask(page, "DELETE", `/api/inboxes/${gone.id}`);
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await sidebar(page, "Gone soon").waitFor({ state: "detached" });
  await ask(page, "POST", `/api/inboxes/${other.id}/test-message`);
  await sidebar(page, "Other").filter({ hasText: /1\s*unread/ }).waitFor();
}

// What is typed before the palette is there does nothing to the page, and is in its field then.
async function palette(page) {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(/Palette/, async (route) => {
    await held;
    await route.continue();
  });
  await press(page, "Control+k");
  for (const key of ["w", "x", "Backspace", "e", "b"]) await press(page, key);
  release();
  const dialog = page.getByRole("dialog");
  const field = dialog.getByRole("combobox");
  await field.waitFor();
  report.typed = await field.inputValue();
  report.found = await dialog.getByRole("option").first().innerText();
  report.dialogs = await page.getByRole("dialog").count();
}

async function nobodySignsIn(page) {
  const options = page.waitForResponse((answer) => answer.url().endsWith("/api/auth/options"));
  await page.locator("summary").filter({ hasText: "Owner" }).click();
  await options;
  await page.getByRole("link", { name: "Account" }).waitFor();
  report.signsOut = await page.getByRole("button", { name: "Sign out" }).count();
}
