// An open page of the web console while a balancer leads some of its requests to another build, which has other files.
// Usage: node builds.cjs LINK, with the first-run link of a server.
"use strict";

const http = require("node:http");

const { ask, fill } = require("./fill.cjs");
const { open, report, signIn, walk } = require("./walk.cjs");

// Screens whose files come when they are opened first, with something in each that has styles of its own.
const LATER = {
  "/team/members": "main table",
  "/webhooks": "main table",
  "/idps": "main table",
  "/mocks/new": "main ul",
  "/account/preferences": "main form, main fieldset, main [role=group]",
};

// How often the other build is asked for a file before this one is.
const BAD_LUCK = 3;

walk(async (link) => {
  const way = await balancer(link);
  const { pathname, search } = new URL(link);
  const { page, end } = await open();
  await signIn(page, way.url + pathname + search);
  const { full, messages } = await fill(page);
  // It is there for as long as the page is not loaded anew.
  await page.evaluate(() => (window.isSame = true));

  // What is meant to be seen, from one build.
  const { page: other, context } = await open();
  await context.addCookies(await page.context().cookies());
  await other.goto(way.url);
  const wanted = await walked(other, full, messages[0].id);
  await context.browser().close();

  way.turn("some");
  const seen = await walked(page, full, messages[0].id);
  report.differs = Object.keys(wanted).filter((path) => wanted[path] !== seen[path]);
  report.files = way.asked.size;
  report.most = Math.max(...way.asked.values());

  // A file that neither has any more: the page says so, and is itself again when somebody wants that.
  way.turn("all");
  await to(page, "/projects");
  await page.getByText("there may be a new version").waitFor();
  report.isSame = await page.evaluate(() => window.isSame);
  way.turn("none");
  await page.getByRole("button", { name: "Reload" }).click();
  await page.locator("main tbody tr").first().waitFor();
  report.projects = (await ask(page, "GET", "/api/projects")).length;
  way.end();
  await end();
});

// A balancer before the server at this URL. The other build has the same API and files of other names: what is asked
// of it by the name of a file of this one is not there.
async function balancer(target) {
  const upstream = new URL(target);
  let share = "none";
  const asked = new Map();
  const server = http.createServer((request, response) => {
    let path = request.url;
    if (path.startsWith("/assets/") && share !== "none") {
      asked.set(path, (asked.get(path) ?? 0) + 1);
      if (share === "all" || asked.get(path) <= BAD_LUCK) path = path.replace("/assets/", "/assets/other-");
    }
    const { method, headers } = request;
    const onward = http.request({ host: upstream.hostname, port: upstream.port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    turn: (next) => (share = next),
    asked,
    end: () => (server.close(), server.closeAllConnections()),
  };
}

// Goes to a path as a link of the page does.
async function to(page, path) {
  await page.evaluate((path) => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
}

// Opens a message and all of the screens, and notes how each looks.
async function walked(page, inbox, message) {
  const places = { [`/inboxes/${inbox}?message=${message}`]: "iframe", ...LATER };
  const looks = {};
  for (const [path, ready] of Object.entries(places)) {
    await to(page, path);
    const target = page.locator(ready).first();
    await target.waitFor();
    looks[path] = await target.evaluate(look);
  }
  return looks;
}

// What an element and those in it look like, as far as styles say it.
function look(element) {
  const parts = [element, ...element.querySelectorAll("*")].slice(0, 40);
  const of = ({ display, padding, borderTopWidth, backgroundColor }) =>
    [display, padding, borderTopWidth, backgroundColor].join(" ");
  return parts.map((part) => `${part.tagName} ${of(getComputedStyle(part))}`).join("\n");
}
