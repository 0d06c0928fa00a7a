// One journey through the web console behind a proxy: signing in, a mail that arrives, its code, its preview, signing
// out; meanwhile somebody is signed in at an application on another port of the same host, too.
// Usage: node proxied.cjs LINK [PROXY], with the first-run link as browsers reach it, and what they ask for all hosts.
"use strict";

const http = require("node:http");

const { sender } = require("./fill.cjs");
const { open, press, report, row, signIn, walk } = require("./walk.cjs");

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const MAIL = {
  from: "shop@example.com",
  to: "ada@example.com",
  subject: "Your sign-in code",
  text: "Your code is 481516.",
  html: "<h1>Hello</h1><p>Your code is <b>481516</b>.</p><img src='cid:logo@shop.example'>",
  attachments: [{ filename: "logo.png", cid: "logo@shop.example", content: PIXEL, encoding: "base64" }],
};

walk(async (link, proxy) => {
  const home = link.slice(0, link.indexOf("/link"));
  const { page, context, end } = await open({
    viewport: { width: 1280, height: 800 },
    ...(proxy && { proxy: { server: proxy } }),
  });
  const neighbour = proxy ? null : await application(context, new URL(home).hostname);
  await neighbour?.signIn();
  await signIn(page, link);
  report.isSecure = await page.evaluate(() => window.isSecureContext);
  await arrival(page, home);
  await copied(page);
  await preview(page);
  // Whoever signs in there anew stays signed in here, and the address leads to the same again.
  await neighbour?.signIn();
  await page.reload();
  await page.getByRole("heading", { name: MAIL.subject }).waitFor();
  report.url = page.url();
  await signOut(page, home);
  report.neighbour = await neighbour?.person();
  neighbour?.server.close();
  await end();
});

// An application that knows who is signed in by a cookie that is called as many applications call it.
async function application(context, host) {
  const server = http.createServer((request, response) => {
    const person = /(?:^|; )session=(\w+)/.exec(request.headers.cookie ?? "")?.[1];
    const headers = request.url === "/sign-in" ? { "set-cookie": "session=grace; Path=/; HttpOnly" } : {};
    response.writeHead(200, { "content-type": "text/html", ...headers }).end(`<p>${person ?? "nobody"}</p>`);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const home = `http://${host}:${server.address().port}`;
  const visit = async (path) => {
    const page = await context.newPage();
    await page.goto(home + path);
    const person = await page.locator("p").innerText();
    await page.close();
    return person;
  };
  report.beside = home;
  return { server, signIn: () => visit("/sign-in"), person: () => visit("/") };
}

// The stream tells of the mail: the list is not asked for again.
async function arrival(page, home) {
  await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
  const [inbox] = await page.evaluate(async (home) => (await fetch(`${home}/api/inboxes`)).json(), home);
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await sender(inbox)(MAIL);
  await row(page, MAIL.subject).waitFor();
  report.listed = asked.filter((path) => path.endsWith("/messages")).length;
}

// The code goes where somebody pastes it, whether or not the page has a clipboard of its own.
async function copied(page) {
  await press(page, "c");
  await page.getByText("Copied 481516").waitFor();
  const search = page.getByLabel("Search subject, sender, recipients");
  await search.focus();
  await press(page, "Control+v");
  await page.getByText("Nothing matches the filter").waitFor();
  report.pasted = await search.inputValue();
  await search.fill("");
  await row(page, MAIL.subject).waitFor();
}

async function preview(page) {
  await row(page, MAIL.subject).click();
  const frame = page.frameLocator('iframe[title="Preview of the message"]');
  await frame.getByText("Hello").waitFor();
  const image = frame.locator("img");
  await image.waitFor();
  report.image = await image.evaluate((image) => image.decode().then(() => image.naturalWidth));
  // It counts as read after a moment in view, which is a change that is sent.
  await page.getByText("1 message, 0 unread").waitFor();
}

async function signOut(page, home) {
  await page.locator("summary").filter({ hasText: "ada" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Password", { exact: true }).waitFor();
  report.signedOut = await page.evaluate(async (home) => (await fetch(`${home}/api/auth/me`)).status, home);
}
