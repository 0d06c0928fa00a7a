// What an application does with DocuSign, over the official SDK. `client`, `account` and `verify` come from the mock's
// own snippets, which the test puts before this.

const assert = require("node:assert");
const { accept, raises } = require("harness");

const envelopes = new docusign.EnvelopesApi(client);

function definition(email) {
  return {
    emailSubject: "Please sign",
    status: "sent",
    documents: [{ documentId: "1", name: "Contract", documentBase64: Buffer.from("%PDF").toString("base64") }],
    recipients: { signers: [{ email, name: "Ada Lovelace", recipientId: "1", routingOrder: "1" }] },
  };
}

const sent = (email = "ada@example.com") =>
  envelopes.createEnvelope(account, { envelopeDefinition: definition(email) });
const statusOf = async ({ envelopeId }) => (await envelopes.getEnvelope(account, envelopeId)).status;

accept(async (mock) => {
  const made = await sent();
  await mock.api("POST", `/objects/${made.envelopeId}/move`, { to: "completed" });
  assert.strictEqual(await statusOf(made), "completed");
  assert.strictEqual(await statusOf(await sent("decline@example.com")), "declined");
  const page = await envelopes.listStatusChanges(account, { fromDate: "2026-01-01", count: "1" });
  assert.deepStrictEqual([page.resultSetSize, page.totalSetSize], ["1", "2"]);

  // Errors.
  const missing = await raises(() => statusOf({ envelopeId: "00000000-0000-4000-8000-000000000000" }));
  assert.strictEqual(missing.response.data.errorCode, "ENVELOPE_DOES_NOT_EXIST");
  await mock.settings({ next: [{ fault: "rate_limit" }] });
  assert.strictEqual((await raises(() => statusOf(made))).response.status, 429);
  await mock.settings({ next: null });

  // Webhooks.
  await mock.api("PATCH", "", { webhookUrl: await mock.receive() });
  await mock.settings({ webhooks: { events: ["envelope-sent"] } });
  await sent();
  const { headers, body } = await mock.received();
  assert(verify(headers, body, "") && JSON.parse(body).data.envelopeSummary.status === "sent");
  await mock.settings({ webhooks: { badSignature: true } });
  await sent();
  const other = await mock.received();
  await raises(async () => verify(other.headers, other.body, ""));
});
