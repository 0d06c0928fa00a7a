// Signs in at mock identity providers in Chromium, and prints as one line of JSON what happened.
// Usage: node picker.cjs ISSUER CLIENT, where the provider sends browsers back to http://127.0.0.1/callback at
// any port, and its users, its name and what it is asked hold markup that leaves a mark when it runs.
"use strict";

const http = require("node:http");

const { open, report, walk } = require("./walk.cjs");

const SMALL = { width: 320, height: 640 };
const RUN = "document.documentElement.dataset.ran=1";
const MARKUP = [
  `<script>${RUN}</script>`,
  `"><img src=x onerror="${RUN}">`,
  `'><svg onload='${RUN}'>`,
  `</title></style></textarea></pre><img src=x onerror=${RUN}>`,
  `javascript:${RUN}`,
];

walk(async (issuer, client) => {
  const app = await application();
  const request = (others) =>
    `${issuer}/authorize?${new URLSearchParams({
      client_id: client,
      response_type: "code",
      scope: "openid",
      prompt: "select_account",
      redirect_uri: `${app.home}/callback`,
      ...others,
    })}`;
  await byKeyboard(request({ state: "by keyboard" }));
  await withoutUsers(request({ state: "denied" }));
  await hostile(request, issuer);
  app.end();
});

// An application that sends people on to another origin once more, as some do.
async function application() {
  const last = await listen((_, url) => ({ body: `<title>Done</title><pre>${escape(url.search)}</pre>` }));
  const first = await listen((request, url) =>
    request.method === "GET"
      ? { status: 303, location: `${last.home}/done${url.search}` }
      : { status: 303, location: `${last.home}/done?posted=1` },
  );
  return { home: first.home, end: () => [first, last].forEach(({ server }) => server.close()) };
}

function escape(text) {
  return text.replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

async function listen(answer) {
  const server = http.createServer((request, response) => {
    request.resume();
    const { status = 200, location, body = "" } = answer(request, new URL(request.url, "http://x"));
    response.writeHead(status, { "content-type": "text/html", ...(location && { location }) }).end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { server, home: `http://127.0.0.1:${server.address().port}` };
}

// No script, a small window, and no mouse: the search, a user on the second page, and back to the application.
async function byKeyboard(url) {
  const { page, context } = await open({ viewport: SMALL, javaScriptEnabled: false });
  const fits = async () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  await page.goto(url);
  report.fits = [await fits()];
  report.passwords = await page.locator("input[type=password]").count();
  await reach(page, "input");
  await page.keyboard.type("Grace");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=Grace/);
  report.found = await page.locator("button[name=user]").count();
  report.fits.push(await fits());
  await reach(page, "button[name=user]");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/done/);
  report.ended = Object.fromEntries(new URL(page.url()).searchParams);
  await context.browser().close();
}

// Tabs on until this has the focus.
async function reach(page, selector) {
  for (let keys = 0; keys < 100; keys++) {
    await page.keyboard.press("Tab");
    if (await page.locator(`${selector}:focus`).count()) return;
  }
  throw new Error(`no key leads to ${selector}`);
}

// The user whom the request names has the focus at once, and a refusal comes back too.
async function withoutUsers(url) {
  const { page, context } = await open({ viewport: SMALL, colorScheme: "dark" });
  await page.goto(`${url}&login_hint=grace%40example.com`);
  report.focused = await page.locator("button[name=user]:focus small").first().innerText();
  await reach(page, "button[name=deny]");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/done/);
  report.denied = new URL(page.url()).searchParams.get("error");
  await context.browser().close();
}

// Markup wherever somebody can put some; what ran, and what became an element.
async function hostile(request, issuer) {
  report.ran = [];
  report.elements = 0;
  const { page, end } = await open({ viewport: SMALL });
  page.on("dialog", (dialog) => (report.ran.push("a dialog"), dialog.dismiss()));
  const look = async (what) => {
    report.pages = (report.pages ?? 0) + 1;
    const found = await page.evaluate(() => [
      document.documentElement.dataset.ran ?? "",
      document.querySelectorAll("img, svg, iframe, script").length,
    ]);
    if (found[0]) report.ran.push(what);
    report.elements += found[1];
  };
  for (const text of MARKUP) {
    const inScope = text.replace(/[ "\\]/g, "");
    const asked = request({ state: text, nonce: text, login_hint: text, scope: `openid ${inScope}` });
    await page.goto(asked);
    await look("the picker");
    const { searchParams } = new URL(page.url());
    const query = (others) => new URLSearchParams({ rid: searchParams.get("rid"), ...others });
    await page.goto(`${issuer}/login?${query({ q: text })}`);
    await look("the search");
    await page.goto(`${issuer}/login?${query({ page: text, rid: text })}`);
    await look("a request that is not there");
    for (const name of ["client_id", "redirect_uri"]) {
      await page.goto(request({ [name]: text }));
      await look(name);
    }
    for (const name of ["id_token_hint", "client_id", "post_logout_redirect_uri", "state", "logout_hint"]) {
      await page.goto(`${issuer}/end_session?${new URLSearchParams({ [name]: text })}`);
      await look(`${name} of a sign-out`);
    }
    // The form sends itself on, and the state comes back as it was.
    await page.goto(request({ state: text, response_mode: "form_post" }));
    await page.locator("button[name=user]").first().click();
    await page.waitForURL(/\/done\?posted=1/);
  }
  await page.goto(request({ state: MARKUP[1] }));
  await page.locator("button[name=user]").first().click();
  await page.waitForURL(/\/done/);
  report.state = new URL(page.url()).searchParams.get("state") === MARKUP[1];
  await end();
}
