// What an application does with Plaid, over the official SDK. `client` and `verify` come from the mock's own snippets,
// which the test puts before this.

const assert = require("node:assert");
const { accept, raises } = require("harness");

const codeOf = async (call) => (await raises(call)).response.data.error_code;

accept(async (mock) => {
  const made = await client.sandboxPublicTokenCreate({
    institution_id: "ins_109508",
    initial_products: ["transactions"],
  });
  const exchanged = await client.itemPublicTokenExchange({ public_token: made.data.public_token });
  const { access_token } = exchanged.data;
  const page = await client.transactionsSync({ access_token, count: 20 });
  assert.strictEqual(page.data.added.length, 20);
  const rest = await client.transactionsSync({ access_token, cursor: page.data.next_cursor });
  assert.deepStrictEqual([rest.data.added.length, rest.data.has_more], [4, false]);

  // Declines and errors.
  await mock.settings({ decline: "INSTITUTION_DOWN" });
  assert.strictEqual(await codeOf(() => client.accountsGet({ access_token })), "INSTITUTION_DOWN");
  await mock.settings({ decline: null, next: [{ fault: "rate_limit" }] });
  assert.strictEqual((await raises(() => client.authGet({ access_token }))).response.status, 429);
  await mock.settings({ next: null });

  // Webhooks.
  await mock.api("PATCH", "", { webhookUrl: await mock.receive() });
  const fire = () => client.sandboxItemFireWebhook({ access_token, webhook_code: "DEFAULT_UPDATE" });
  await fire();
  const { headers, body } = await mock.received();
  assert((await verify(headers, body, "")).iat);
  await raises(() => verify(headers, `${body} `, ""));
  for (const broken of [{ badSignature: true }, { badSignature: false, staleBySeconds: 3600 }]) {
    await mock.settings({ webhooks: broken });
    await fire();
    const other = await mock.received();
    await raises(() => verify(other.headers, other.body, ""));
  }
});
