// What an application does with Airtable, over the official SDK. `client`, `table`, `first` and `verify` come from the
// mock's own snippets, which the test puts before this.

const assert = require("node:assert");
const { accept, raises } = require("harness");

accept(async (mock) => {
  // State.
  const made = await first;
  assert.strictEqual(made.get("Name"), "Ada");
  const people = [];
  for (let start = 0; start < 20; start += 10) {
    const fields = Array.from({ length: 10 }, (_, place) => ({ fields: { Name: `Person ${start + place}`, Number: start + place } }));
    people.push(...(await table.create(fields)));
  }
  const updated = await table.update(people[0].id, { Done: true });
  assert.deepStrictEqual(updated.fields, { Name: "Person 0", Number: 0, Done: true });
  const replaced = await table.replace([{ id: people[1].id, fields: { Name: "One" } }]);
  assert.deepStrictEqual(replaced[0].fields, { Name: "One" });
  assert.strictEqual((await table.find(people[1].id)).get("Name"), "One");
  await table.destroy(people.slice(10).map((person) => person.id));
  await table.destroy(made.id);

  // Lists: to their end, filtered and sorted.
  const pages = [];
  await table.select({ pageSize: 4, sort: [{ field: "Name", direction: "desc" }] }).eachPage((records, next) => {
    pages.push(records.length);
    next();
  });
  assert.deepStrictEqual(pages, [4, 4, 2]);
  const found = await table.select({ filterByFormula: "AND({Number}>2, {Number}<=5)", fields: ["Name"] }).all();
  assert.deepStrictEqual(found.map((record) => record.get("Name")), ["Person 3", "Person 4", "Person 5"]);

  // Errors, each as the SDK's own.
  const refused = async (status, kind, call) => {
    const error = await raises(call);
    assert.deepStrictEqual([error.statusCode, error.error], [status, kind]);
  };
  await refused(422, "INVALID_FILTER_BY_FORMULA", () => table.select({ filterByFormula: "NO_SUCH(1)" }).all());
  await refused(404, "NOT_FOUND", () => table.find("recAAAAAAAAAAAAAA"));
  for (const [fault, status, kind] of [
    ["unauthorized", 401, "AUTHENTICATION_REQUIRED"],
    ["server", 500, "SERVER_ERROR"],
    ["unavailable", 503, "SERVICE_UNAVAILABLE"],
  ]) {
    await mock.settings({ next: [{ fault }] });
    await refused(status, kind, () => table.find(people[0].id));
  }
  await mock.settings({ decline: "INVALID_PERMISSIONS", next: [{ fault: "rate_limit" }] });
  await refused(403, "NOT_AUTHORIZED", () => table.create({ Name: "x" }));
  await mock.settings({ decline: null });

  // A ping, verified by the documented steps; a wrong one is refused.
  await mock.api("PATCH", "", { webhookUrl: await mock.receive() });
  await table.update(people[0].id, { Number: 7 });
  const ping = await mock.received();
  assert.match(verify(ping.headers, ping.body, "").webhook.id, /^ach/);
  await mock.settings({ webhooks: { badSignature: true } });
  await table.update(people[0].id, { Number: 8 });
  const bad = await mock.received();
  await raises(async () => verify(bad.headers, bad.body, ""));
});
