// Fills an installation with what a team might have: projects, inboxes, mail, webhooks, keys, people.
"use strict";

const http = require("node:http");
const nodemailer = require("nodemailer");

// Asks the API as the person who is signed in, and returns the JSON of the answer.
function ask(page, method, path, body) {
  return page.evaluate(
    async ([method, path, body]) => {
      const headers = { "Content-Type": "application/json" };
      const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const answer = await fetch(path, options);
      if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
      return answer.status === 204 ? null : answer.json();
    },
    [method, path, body],
  );
}

// Mails of a shop that is being tested, the newest last.
const MAILS = [
  {
    from: "Corner Shop <hello@shop.example>",
    to: "Grace Hopper <grace@example.org>",
    subject: "Welcome to Corner Shop",
    text: "Welcome, Grace. Confirm your address: https://shop.example/confirm?t=8f2c",
    html: letter("Welcome, Grace", "Confirm your address, and the first parcel is on us.", "Confirm"),
  },
  {
    from: "Corner Shop Billing <billing@shop.example>",
    to: "grace@example.org, Accounts <accounts@example.org>",
    cc: "Alan Turing <alan@example.org>",
    subject: "Invoice 2026-0117 for your order of three parcels, which has a rather long subject",
    text: "The invoice is attached.",
    html: letter("Invoice 2026-0117", "42.00 EUR, due within 14 days.", "Pay now"),
    attachments: [
      { filename: "invoice-2026-0117.pdf", content: "%PDF-1.4 ", contentType: "application/pdf" },
      { filename: "conditions.txt", content: "Fourteen days." },
    ],
  },
  { from: "build@ci.example", to: "team@example.org", text: "Build 812 is green.", subject: "" },
  {
    from: "Corner Shop <hello@shop.example>",
    to: "Grace Hopper <grace@example.org>",
    subject: "Your parcel is on its way",
    text: "Follow it at https://shop.example/parcels/7",
    html: letter("It is on its way", "Your parcel left our shelf this morning.", "Follow it"),
  },
  {
    from: "Corner Shop <no-reply@shop.example>",
    to: "Grace Hopper <grace@example.org>",
    subject: "Your sign-in code",
    text: "Your code is 481516. Or sign in by https://shop.example/sign-in?t=1f6e",
    html: letter("Your code is 481516", "It works for ten minutes, once.", "Sign in instead"),
  },
];

function letter(title, words, button) {
  return `<!doctype html><html><body style="margin:0;background:#eef1f6;font-family:sans-serif">
    <table role="presentation" style="max-width:520px;margin:24px auto;background:#fff;padding:32px">
    <tr><td><h1 style="color:#1d3557;margin:0 0 12px">${title}</h1>
    <p style="color:#333;font-size:16px;line-height:1.5">${words}</p>
    <p><a href="https://shop.example/go?t=8f2c" style="display:inline-block;padding:12px 20px;
    background:#1d4ed8;color:#fff;text-decoration:none;border-radius:6px">${button}</a></p>
    <p style="color:#666;font-size:12px">Corner Shop, 1 High Street</p></td></tr></table></body></html>`;
}

// A sender with the credentials of an inbox.
function sender({ smtp }) {
  const auth = { user: smtp.username, pass: smtp.password };
  const tls = { rejectUnauthorized: false };
  const transport = nodemailer.createTransport({ host: smtp.host, port: smtp.port, auth, tls });
  return (mail) => transport.sendMail(mail);
}

// A receiver of webhooks that takes some and refuses others; `close` ends it.
async function receiver() {
  const server = http.createServer((request, response) => {
    const status = request.url.startsWith("/broken") ? 400 : 204;
    request.resume().on("end", () => response.writeHead(status).end());
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

// Makes all of it. The first inbox stays empty; the second one has the mail.
async function fill(page) {
  const hooks = await receiver();
  const [first] = await ask(page, "GET", "/api/inboxes");
  const project = await ask(page, "POST", "/api/projects", { name: "Corner Shop" });
  await ask(page, "POST", "/api/projects", { name: "Back office" });
  const inbox = { name: "Sign-up tests", projectId: project.id };
  const made = await ask(page, "POST", "/api/inboxes", inbox);
  await ask(page, "POST", "/api/inboxes", { name: "Refunds", projectId: project.id });
  for (const name of ["run-4711", "run-4712"]) {
    await ask(page, "POST", "/api/inboxes", { name, expiresInMinutes: 60 });
  }
  const hook = await ask(page, "POST", "/api/webhooks", { url: `${hooks.url}/mail` });
  await ask(page, "POST", "/api/webhooks", { url: `${hooks.url}/broken`, inboxId: made.id });
  const send = sender(made);
  for (const mail of MAILS) await send(mail);
  await ask(page, "POST", `/api/webhooks/${hook.id}/test`);
  await ask(page, "POST", "/api/api-keys", { name: "CI", expiresInDays: 5 });
  await ask(page, "POST", "/api/api-keys", { name: "Dashboard", access: "read" });
  await ask(page, "POST", "/api/team/invitations", { email: "bob@example.com", role: "member" });
  const messages = await ask(page, "GET", `/api/inboxes/${made.id}/messages`);
  const idp = await provider(page);
  const mock = await mockOfStripe(page, `${hooks.url}/shop`);
  hooks.close();
  const ids = { empty: first.id, full: made.id, hook: hook.id, idp, ...mock };
  const [event] = await ask(page, "GET", `/api/idps/${idp}/events`);
  const { calls } = await ask(page, "GET", `/api/mocks/${mock.mock}/calls`);
  return { ...ids, event: event.id, call: calls[0].id, messages: messages.messages, send };
}

// An identity provider with people, a fault that waits, and a sign-in that went wrong; its id.
async function provider(page) {
  const redirectUris = ["http://localhost:3000/callback"];
  const idp = await ask(page, "POST", "/api/idps", { name: "Staging", redirectUris });
  const [inbox] = await ask(page, "GET", "/api/inboxes");
  const grace = { email: "grace@example.org", name: "Grace Hopper", groups: ["admins"] };
  const users = [grace, { email: inbox.address, name: "Ada Lovelace", claims: { plan: "pro" } }];
  for (const user of users) await ask(page, "POST", `/api/idps/${idp.id}/users`, user);
  const [, ada] = await ask(page, "GET", `/api/idps/${idp.id}/users`);
  await ask(page, "PATCH", `/api/idps/${idp.id}`, { autoLoginUserId: ada.id });
  await ask(page, "POST", `/api/idps/${idp.id}/faults`, { scenario: "wrong_nonce", times: 3 });
  const query = { client_id: idp.clientId, response_type: "code", scope: "openid email" };
  for (const redirect_uri of [redirectUris[0], `${redirectUris[0]}/`]) {
    const url = `${idp.issuer}/authorize?${new URLSearchParams({ ...query, redirect_uri })}`;
    const answer = await page.request.get(url, { maxRedirects: 0 });
    const code = new URL(answer.headers().location ?? url).searchParams.get("code");
    const client = { client_id: idp.clientId, client_secret: idp.clientSecret };
    const form = { grant_type: "authorization_code", code, redirect_uri, ...client };
    if (code) await page.request.post(`${idp.issuer}/token`, { form });
  }
  return idp.id;
}

// What somebody is to pay for on a page.
const SESSION = {
  success_url: "https://shop.example/done",
  cancel_url: "https://shop.example/cart",
  "line_items[0][price_data][currency]": "eur",
  "line_items[0][price_data][unit_amount]": "1250",
  "line_items[0][price_data][product_data][name]": "Tea",
};

// A mock that was called, and told of it; its id, and that of an object on which somebody has to decide.
async function mockOfStripe(page, webhookUrl) {
  const wanted = { name: "Checkout", provider: "stripe", webhookUrl };
  const mock = await ask(page, "POST", "/api/mocks", wanted);
  const headers = { Authorization: `Bearer ${mock.credentials.secretKey}` };
  const post = (path, form) => page.request.post(mock.baseUrl + path, { headers, form });
  const paid = { amount: "4200", currency: "eur", confirm: "true", payment_method: "pm_card_visa" };
  const session = await post("/v1/checkout/sessions", SESSION);
  await post("/v1/customers", { email: "grace@example.org", name: "Grace Hopper" });
  await post("/v1/payment_intents", paid);
  await post("/v1/payment_intents", { ...paid, payment_method: "pm_card_chargeDeclined" });
  const next = [{ decline: "insufficient_funds", times: 2, path: "/v1/payment_intents*" }];
  await ask(page, "PATCH", `/api/mocks/${mock.id}`, { settings: { next, webhooks: { delayMs: 50 } } });
  const sent = () => ask(page, "GET", `/api/mocks/${mock.id}/webhooks`);
  while ((await sent()).some(({ status }) => status !== "succeeded")) await page.waitForTimeout(100);
  return { mock: mock.id, object: (await session.json()).id };
}

module.exports = { ask, fill, sender };
