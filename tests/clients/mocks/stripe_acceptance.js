// What an application does with Stripe, over the official SDK for Node, which takes a host and no path: the server finds
// the mock by its key. `client` and `verify` come from the mock's own snippets, which the test puts before this.

const assert = require("node:assert");
const { accept, raises } = require("harness");

const PAYMENT = { amount: 1000, currency: "usd", confirm: true, payment_method: "pm_card_visa" };
const pay = (changed = {}, options = {}) => client.paymentIntents.create({ ...PAYMENT, ...changed }, options);

accept(async (mock) => {
  // State.
  const intent = await pay();
  assert.strictEqual(intent.status, "succeeded");
  assert.strictEqual((await client.paymentIntents.retrieve(intent.id)).amount_received, 1000);
  const refund = await client.refunds.create({ payment_intent: intent.id, amount: 400 });
  assert.strictEqual(refund.status, "succeeded");

  // Declines and errors, each as the SDK's own.
  const declined = await raises(() => pay({ payment_method: "pm_card_chargeDeclinedInsufficientFunds" }));
  assert.deepStrictEqual([declined.type, declined.decline_code], ["StripeCardError", "insufficient_funds"]);
  await mock.settings({ decline: "expired_card" });
  assert.strictEqual((await raises(pay)).code, "expired_card");
  await mock.settings({ decline: null });
  const missing = await raises(() => client.customers.retrieve("cus_none"));
  assert.deepStrictEqual([missing.statusCode, missing.code], [404, "resource_missing"]);
  await mock.settings({ next: [{ fault: "unauthorized" }] });
  assert.strictEqual((await raises(() => client.customers.list())).type, "StripeAuthenticationError");
  await mock.settings({ next: [{ fault: "rate_limit", times: 10 }] });
  assert.strictEqual((await raises(() => client.customers.list())).type, "StripeRateLimitError");
  await mock.settings({ next: [{ fault: "server" }] });
  assert.strictEqual((await pay({}, { maxNetworkRetries: 2 })).status, "succeeded");
  await mock.settings({ next: null });

  // Keys of calls, and lists to their end.
  const keyed = () => client.customers.create({ email: "ada@example.com" }, { idempotencyKey: "k" });
  assert.strictEqual((await keyed()).id, (await keyed()).id);
  for (let number = 0; number < 6; number += 1) await client.customers.create({ name: `Customer ${number}` });
  const listed = new Set();
  for await (const customer of client.customers.list({ limit: 3 })) listed.add(customer.id);
  assert.strictEqual(listed.size, 7);

  // A page on which somebody pays, and a card whose owner confirms.
  const session = await client.checkout.sessions.create({
    mode: "payment",
    success_url: "https://app.example/done?s={CHECKOUT_SESSION_ID}",
    line_items: [
      { price_data: { currency: "usd", unit_amount: 1250, product_data: { name: "Tea" } }, quantity: 2 },
    ],
  });
  const press = (url, to) =>
    fetch(url, { method: "POST", body: new URLSearchParams({ to }), redirect: "manual" });
  assert.strictEqual((await fetch(session.url)).status, 200);
  const paid = await press(session.url, "complete");
  assert.deepStrictEqual(
    [paid.status, paid.headers.get("location")],
    [303, `https://app.example/done?s=${session.id}`],
  );
  assert.strictEqual((await client.checkout.sessions.retrieve(session.id)).payment_status, "paid");
  const secure = await pay({
    payment_method: "pm_card_threeDSecure2Required",
    return_url: "https://app.example/back",
  });
  assert.strictEqual(secure.status, "requires_action");
  await press(secure.next_action.redirect_to_url.url, "succeeded");
  assert.strictEqual((await client.paymentIntents.retrieve(secure.id)).status, "succeeded");

  // Plans: bought on a page, and incomplete until the app pays.
  const product = await client.products.create({ name: "Pro" });
  const price = await client.prices.create({
    product: product.id,
    currency: "usd",
    unit_amount: 2000,
    recurring: { interval: "month" },
  });
  const plan = await client.checkout.sessions.create({
    mode: "subscription",
    success_url: "https://app.example/done",
    customer_email: "ada@example.com",
    line_items: [{ price: price.id, quantity: 2 }],
  });
  await press(plan.url, "complete");
  const bought = await client.checkout.sessions.retrieve(plan.id, { expand: ["subscription.latest_invoice"] });
  assert.deepStrictEqual(
    [bought.payment_status, bought.subscription.status, bought.subscription.latest_invoice.amount_paid],
    ["paid", "active", 4000],
  );
  assert.strictEqual((await client.checkout.sessions.listLineItems(plan.id)).data[0].price.id, price.id);
  const incomplete = await client.subscriptions.create({
    customer: bought.customer,
    items: [{ price: price.id }],
    payment_behavior: "default_incomplete",
    expand: ["latest_invoice.confirmation_secret"],
  });
  assert.strictEqual(incomplete.status, "incomplete");
  const [intentId] = incomplete.latest_invoice.confirmation_secret.client_secret.split("_secret_");
  await client.paymentIntents.confirm(intentId, { payment_method: "pm_card_visa" });
  assert.strictEqual((await client.subscriptions.retrieve(incomplete.id)).status, "active");
  const listedPlans = new Set();
  for await (const found of client.subscriptions.list({ limit: 1 })) listedPlans.add(found.id);
  assert.strictEqual(listedPlans.size, 2);
  assert.strictEqual((await client.subscriptions.cancel(incomplete.id)).status, "canceled");
  const refusedPlan = await raises(() => client.subscriptions.create({ customer: "cus_none", items: [{ price: price.id }] }));
  assert.deepStrictEqual([refusedPlan.statusCode, refusedPlan.param], [404, "customer"]);

  // Webhooks.
  await mock.api("PATCH", "", { webhookUrl: await mock.receive() });
  await client.customers.create();
  const { headers, body } = await mock.received();
  assert.strictEqual(verify(headers, body, "").type, "customer.created");
  const triggered = { event: "charge.dispute.created", objectId: intent.latest_charge };
  const { object } = await mock.api("POST", "/trigger", triggered);
  const dispute = await mock.received();
  assert.strictEqual(verify(dispute.headers, dispute.body, "").data.object.id, object.id);
  for (const broken of [{ badSignature: true }, { badSignature: false, staleBySeconds: 3600 }]) {
    await mock.settings({ webhooks: broken });
    await client.customers.create();
    const other = await mock.received();
    await raises(async () => verify(other.headers, other.body, ""));
  }
  const calls = await mock.api("GET", "/calls");
  assert(calls.calls.every((call) => call.via === "credential"));
});
