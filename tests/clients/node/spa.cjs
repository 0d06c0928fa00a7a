// An application in the browser that signs people in with oidc-client-ts, and somebody who uses it in Chromium.
// Usage: node spa.cjs ISSUER CLIENT LIBRARY PAGE, where the provider sends browsers back to http://127.0.0.1/ at
// any port, and LIBRARY and PAGE are the files of the script and of the application. Prints
// one line of JSON.
"use strict";

const fs = require("node:fs");
const http = require("node:http");

const { open, report, walk } = require("./walk.cjs");

// What the library must refuse, or the provider tells it of.
const FAULTS = [
  "access_denied",
  "login_required",
  "server_error",
  "temporarily_unavailable",
  "state_mismatch",
  "token_500",
  "token_malformed",
  "userinfo_sub_mismatch",
];

walk(async (issuer, client, library, page) => {
  const files = { "/oidc-client-ts.min.js": ["text/javascript", library], "/": ["text/html", page] };
  const server = http.createServer((request, response) => {
    const [type, file] = files[new URL(request.url, "http://x").pathname] ?? files["/"];
    const settings = `<meta name="issuer" content="${issuer}"><meta name="client" content="${client}">`;
    const text = String(fs.readFileSync(file)).replace("<head>", `<head>${settings}`);
    response.writeHead(200, { "content-type": type }).end(text);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const home = `http://127.0.0.1:${server.address().port}/`;
  const { page: tab, end } = await open();
  const status = () => tab.locator("#status");
  const signIn = async (hint = "") => {
    await tab.goto(`${home}?login_hint=${hint}`);
    await tab.getByRole("button", { name: "Sign in" }).click();
    await status().filter({ hasText: /^(Ada|refused)/ }).waitFor();
    return status().innerText();
  };
  report.signedIn = await signIn();
  await tab.getByRole("button", { name: "Renew in a frame" }).click();
  await status().filter({ hasText: /^renewed/ }).waitFor();
  report.renewed = await status().innerText();
  await tab.getByRole("button", { name: "Refresh" }).click();
  await status().filter({ hasText: /^refreshed/ }).waitFor();
  report.refreshed = await status().innerText();
  await tab.getByRole("button", { name: "Sign out" }).click();
  await status().filter({ hasText: /^signed out/ }).waitFor();
  report.signedOut = await status().innerText();
  report.faults = {};
  for (const fault of FAULTS) {
    report.faults[fault] = await signIn(`fault:${fault}`);
  }
  await end();
  server.close();
});
