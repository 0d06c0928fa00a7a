// What an application does with HubSpot, over the official SDK. `client`, `first` and `verify` come from the mock's own
// snippets, which the test puts before this.

const assert = require("node:assert");
const { accept, raises } = require("harness");

accept(async (mock) => {
  assert.deepStrictEqual((await first).results, []);
  const { basicApi, batchApi, searchApi } = client.crm.contacts;
  const make = (email) => basicApi.create({ properties: { email }, associations: [] });

  // State, batches, lists and searches.
  const ada = await make("ada@example.com");
  assert.strictEqual((await basicApi.update(ada.id, { properties: { age: "36" } })).properties.age, "36");
  const inputs = Array.from({ length: 12 }, (_, place) => ({ properties: { email: `n${place}@a.test` }, associations: [] }));
  assert.strictEqual((await batchApi.create({ inputs })).results.length, 12);
  assert.strictEqual((await client.crm.contacts.getAll(5)).length, 13);
  const filter = { propertyName: "email", operator: "CONTAINS_TOKEN", value: "*a.test" };
  const found = await searchApi.doSearch({ filterGroups: [{ filters: [filter] }], limit: 5 });
  assert.deepStrictEqual([found.total, found.results.length], [12, 5]);
  const links = client.crm.associations.v4.basicApi;
  const deal = await client.crm.deals.basicApi.create({ properties: { dealname: "Big" }, associations: [] });
  await links.createDefault("contacts", ada.id, "deals", deal.id);
  const linked = (await links.getPage("deals", deal.id, "contacts")).results;
  assert.deepStrictEqual(linked.map((found) => found.toObjectId), [ada.id]);
  await basicApi.archive(ada.id);
  assert.deepStrictEqual((await links.getPage("deals", deal.id, "contacts")).results, []);

  // Errors, each as the SDK's own.
  const refused = async (status, call) => assert.strictEqual((await raises(call)).code, status);
  await refused(404, () => basicApi.getById(ada.id));
  await refused(409, () => make("n1@a.test"));
  await mock.settings({ decline: "FORBIDDEN" });
  await refused(403, () => make("bob@example.com"));
  await mock.settings({ decline: null });
  for (const [fault, status] of [["unauthorized", 401], ["rate_limit", 429], ["server", 500]]) {
    await mock.settings({ next: [{ fault }] });
    await refused(status, () => basicApi.getPage());
  }
  await mock.settings({ next: null });

  // Webhooks, verified by the SDK; a wrong one and an old one are refused.
  const url = await mock.receive();
  await mock.api("PATCH", "", { webhookUrl: url });
  const bob = await make("bob@example.com");
  const { headers, body } = await mock.received();
  assert.strictEqual(String(verify(headers, body, url)[0].objectId), bob.id);
  for (const [place, webhooks] of [{ badSignature: true }, { badSignature: false, staleBySeconds: 3600 }].entries()) {
    await mock.settings({ webhooks });
    await make(`broken${place}@example.com`);
    const bad = await mock.received();
    await raises(async () => verify(bad.headers, bad.body, url));
  }
});
