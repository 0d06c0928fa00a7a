// Walks through what the web console has of things that come from outside: a sign-in by SAML at an identity provider,
// and what happens in a mock without a call.
// Usage: node outside.cjs AREA LINK
"use strict";

const http = require("node:http");

const { ask } = require("./fill.cjs");
const { click, open, reader, report, said, signIn, walk } = require("./walk.cjs");

const areas = { saml, steps };
const ENTITY = "https://app.example/metadata";
const SESSION = {
  success_url: "https://app.example/done",
  cancel_url: "https://app.example/cart",
  "line_items[0][price_data][currency]": "usd",
  "line_items[0][price_data][unit_amount]": "1250",
  "line_items[0][price_data][product_data][name]": "Tea",
};
const PAID = { amount: "1000", currency: "usd", confirm: "true", payment_method: "pm_card_visa" };

walk(async (area, link) => {
  const { context, page, end } = await open();
  await signIn(page, link);
  await areas[area](page, await reader(context, link), (path) => new URL(path, link).href);
  await end();
});

// A page of the provider or the mock that is open.
function part(page, name) {
  return page.getByRole("main").getByRole("navigation").getByRole("link", { name, exact: true });
}

// An application that takes the answers of a sign-in, and keeps them in the clear.
async function application() {
  const answers = [];
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const answer = new URLSearchParams(body).get("SAMLResponse");
    if (answer) answers.push(Buffer.from(answer, "base64").toString());
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Application</title><p>Signed in");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { acs: `http://127.0.0.1:${server.address().port}/acs`, answers, server };
}

async function saml(page, clipboard, at) {
  const app = await application();
  const idp = await ask(page, "POST", "/api/idps", { name: "Staging" });
  await ask(page, "POST", `/api/idps/${idp.id}/users`, { email: "ada@example.com", name: "Ada" });
  await page.goto(at(`/idps/${idp.id}/overview`));
  await click(part(page, "SAML"));
  await page.getByText("An ACS URL is needed first.").waitFor();
  await click(page.getByRole("button", { name: "Copy Metadata URL, which is the entity id too" }));
  await said(page, "Metadata URL, which is the entity id too copied");
  const metadataUrl = await clipboard();
  const metadata = await (await page.request.get(metadataUrl)).text();
  const pem = await page.getByRole("region", { name: "Certificate", exact: true }).innerText();
  const body = pem.replace(/-----[^-]+-----|\s/g, "");
  report.certificate = body !== "" && metadata.replace(/\s/g, "").includes(body);

  const acs = page.getByLabel("ACS URL, also called reply URL or recipient");
  await acs.fill("ftp://app.example/acs");
  await page.getByRole("button", { name: "Save" }).click();
  report.refused = await page.locator(".field p").innerText();
  await acs.fill(app.acs);
  await page.getByLabel("Entity id, also called audience or identifier").fill(ENTITY);
  await page.getByLabel("How the user is named").selectOption({ index: 3 });
  await page.getByLabel("What is signed").selectOption("The response");
  await click(page.getByRole("button", { name: "Save" }));
  await said(page, "Saved");
  await page.getByLabel("Library of SAML").selectOption("Python (python3-saml)");
  const snippet = await page.getByRole("region", { name: "Python (python3-saml)" }).innerText();
  report.missing = [metadataUrl, app.acs, ENTITY, '"wantAssertionsSigned": False'].filter((it) => !snippet.includes(it));
  const known = await ask(page, "GET", `/api/idps/${idp.id}`);
  report.saved = [known.samlSpEntityId, known.samlNameIdFormat.split(":").at(-1), known.samlSign, known.samlSloUrl];

  const opened = page.waitForEvent("popup");
  await page.getByRole("link", { name: "Try it" }).click();
  const tab = await opened;
  await tab.getByRole("button", { name: "Ada" }).click();
  await tab.getByText("Signed in").waitFor();
  await tab.close();
  report.answer = [app.answers.length, app.answers[0]?.includes("unspecified"), app.answers[0]?.includes(ENTITY)];
  await part(page, "Activity").click();
  const log = page.getByRole("region", { name: "Activity", exact: true });
  await log.getByRole("link", { name: "SAML answer" }).first().waitFor();
  app.server.close();
}

async function steps(page, _, at) {
  const mock = await ask(page, "POST", "/api/mocks", {
    name: "Checkout",
    provider: "stripe",
    webhookUrl: "http://127.0.0.1:8099/hook",
  });
  const headers = { Authorization: `Bearer ${mock.credentials.secretKey}` };
  const call = async (path, form) => (await page.request.post(mock.baseUrl + path, { headers, form })).json();
  const session = await call("/v1/checkout/sessions", SESSION);
  const { latest_charge: charge } = await call("/v1/payment_intents", PAID);
  await page.goto(at(`/mocks/${mock.id}/calls`));
  await part(page, "Objects").click();
  await page.getByLabel("Kind").selectOption("sessions");
  await page.getByRole("link", { name: session.id }).click();
  const detail = page.getByRole("region", { name: "Details" });
  const ways = detail.getByRole("button", { name: /^Move to/ });
  await ways.first().waitFor();
  report.ways = await ways.allInnerTexts();
  await click(ways.first());
  await said(page, "It is complete now; 4 webhooks are sent");
  await ways.first().waitFor({ state: "detached" });
  report.state = await detail.getByRole("definition").nth(1).innerText();
  await trigger(page, charge);
  await detail.getByText('"reason": "duplicate"').waitFor();
  report.kind = await detail.getByRole("definition").first().innerText();
  report.filter = await page.getByLabel("Kind").inputValue();
}

// What is said of a charge that is open, once it is said as it must be.
async function trigger(page, charge) {
  await page.getByLabel("Kind").selectOption("charges");
  await page.getByRole("link", { name: charge }).click();
  await page.getByRole("button", { name: "Trigger an event" }).click();
  const dialog = page.getByRole("dialog");
  const about = dialog.getByLabel("Id of the object");
  report.about = (await about.inputValue()) === charge;
  await dialog.getByLabel("What is said of it").fill('{"reason": ');
  await dialog.getByText("This is not a JSON object.").waitFor();
  report.early = await dialog.getByRole("button", { name: "Trigger" }).isDisabled();
  await dialog.getByLabel("What is said of it").fill('{"reason": "duplicate"}');
  await about.fill("ch_none");
  await dialog.getByRole("button", { name: "Trigger" }).click();
  report.refused = await dialog.locator(".field p[id$=error]").innerText();
  await about.fill(charge);
  await click(dialog.getByRole("button", { name: "Trigger" }));
  await dialog.waitFor({ state: "detached" });
}
