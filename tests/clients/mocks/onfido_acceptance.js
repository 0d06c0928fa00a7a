// What an application does with Onfido, over the official SDK. `client` and `verify` come from the mock's own snippets,
// which the test puts before this.

const assert = require("node:assert");
const { accept, raises } = require("harness");

const WORKFLOW = "7a4f0000-0000-4000-8000-000000000000";

accept(async (mock) => {
  const { data: ada } = await client.createApplicant({ first_name: "Ada", last_name: "Lovelace" });
  const builder = { applicant_id: ada.id, report_names: ["document"], asynchronous: false };
  const { data: clear } = await client.createCheck(builder);
  assert.deepStrictEqual([clear.status, clear.result], ["complete", "clear"]);
  const { data: consider } = await client.createCheck({ ...builder, consider: ["document"] });
  assert.strictEqual(consider.result, "consider");

  // Declines and errors.
  await mock.settings({ decline: "declined", pace: "instant" });
  const run = () => client.createWorkflowRun({ applicant_id: ada.id, workflow_id: WORKFLOW });
  const { data: begun } = await run();
  assert.strictEqual((await client.findWorkflowRun(begun.id)).data.status, "declined");
  await mock.settings({ decline: null, pace: null, next: [{ fault: "rate_limit" }] });
  assert.strictEqual((await raises(() => client.findApplicant(ada.id))).response.status, 429);
  await mock.settings({ next: null });
  const invalid = await raises(() => client.createApplicant({ first_name: "Ada" }));
  assert.strictEqual(invalid.response.data.error.type, "validation_error");

  // Webhooks.
  await mock.api("PATCH", "", { webhookUrl: await mock.receive() });
  await mock.settings({ webhooks: { events: ["workflow_run.completed"] } });
  await run();
  const { headers, body } = await mock.received();
  assert.strictEqual(verify(headers, body, "").payload.object.status, "approved");
  await mock.settings({ webhooks: { badSignature: true } });
  await run();
  const other = await mock.received();
  await raises(async () => verify(other.headers, other.body, ""));
});
