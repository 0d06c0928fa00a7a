// What an application does with Xero, over the official SDK. `client`, `tenant`, `first` and `verify` come from the
// mock's own snippets, which the test puts before this.

const assert = require("node:assert");
const { accept, raises } = require("harness");

const invoice = {
  type: "ACCREC",
  contact: { name: "Ada Ltd" },
  date: "2026-01-02",
  dueDate: "2026-02-01",
  lineItems: [{ description: "Work", quantity: 2, unitAmount: 50, taxType: "OUTPUT2", accountCode: "200" }],
  status: "AUTHORISED",
};

accept(async (mock) => {
  assert.strictEqual((await first).body.organisations[0].baseCurrency, "GBP");

  // State.
  const bill = async (changed = {}) => (await client.createInvoices(tenant, { invoices: [{ ...invoice, ...changed }] })).body.invoices[0];
  const made = await bill();
  assert.deepStrictEqual([made.invoiceNumber, made.total, made.amountDue], ["INV-0001", 120, 120]);
  await client.createPayment(tenant, { invoice: { invoiceID: made.invoiceID }, account: { code: "090" }, amount: 120, date: "2026-01-03" });
  const paid = (await client.getInvoice(tenant, made.invoiceID)).body.invoices[0];
  assert.strictEqual(String(paid.status), "PAID");
  const contacts = (await client.getContacts(tenant, undefined, 'Name=="Ada Ltd"')).body.contacts;
  assert.strictEqual(contacts[0].contactID, made.contact.contactID);

  // Errors.
  const refused = async (status, call) => {
    const error = await raises(call);
    const found = typeof error === "string" ? JSON.parse(error) : error;
    assert.strictEqual(found.response?.statusCode ?? found.statusCode, status, String(error));
    return found;
  };
  await mock.settings({ decline: "PeriodLocked" });
  await refused(400, bill);
  await mock.settings({ decline: null });
  await refused(404, () => client.getInvoice(tenant, "INV-9999"));
  for (const [fault, status] of [["unauthorized", 401], ["rate_limit", 429], ["server", 500]]) {
    await mock.settings({ next: [{ fault }] });
    await refused(status, () => client.getContacts(tenant));
  }
  await mock.settings({ next: null });

  // Webhooks, verified by the documented steps; a wrong one is refused.
  await mock.api("PATCH", "", { webhookUrl: await mock.receive(verify) });
  for (const signed of ["well", "badly"]) {
    assert.deepStrictEqual(JSON.parse((await mock.received()).body).events, [], signed);
  }
  const told = await bill();
  const { headers, body } = await mock.received();
  assert.strictEqual(verify(headers, body, "").events[0].resourceId, told.invoiceID);
  await mock.settings({ webhooks: { badSignature: true } });
  await bill();
  const bad = await mock.received();
  await raises(async () => verify(bad.headers, bad.body, ""));
});
