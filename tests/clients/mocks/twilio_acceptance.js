// What an application does with Twilio, over the official SDK. `client`, `first` and `verify` come from the mock's own
// snippets, which the test puts before this.

const assert = require("node:assert");
const { accept, raises } = require("harness");

const message = { to: "+15005550010", from: "+15005550006", body: "Hello" };

accept(async (mock) => {
  assert.deepStrictEqual(await first, []);

  // State and lists.
  await mock.settings({ pace: "instant" });
  const sent = [];
  for (let number = 0; number < 5; number++) sent.unshift((await client.messages.create(message)).sid);
  assert.strictEqual((await client.messages(sent[0]).fetch()).status, "delivered");
  const listed = await client.messages.list({ pageSize: 2 });
  assert.deepStrictEqual(listed.map((found) => found.sid), sent);

  // Verify.
  const service = await client.verify.v2.services.create({ friendlyName: "Ours" });
  await client.verify.v2.services(service.sid).verifications.create({ to: message.to, channel: "sms" });
  const check = await client.verify.v2.services(service.sid).verificationChecks.create({ to: message.to, code: "123456" });
  assert.deepStrictEqual([check.status, check.valid], ["approved", true]);
  assert((await client.lookups.v2.phoneNumbers(message.to).fetch()).valid);

  // Declines and errors.
  const refused = async (status, code, call) => {
    const error = await raises(call);
    assert.deepStrictEqual([error.status, error.code], [status, code]);
  };
  await refused(400, 21211, () => client.messages.create({ ...message, to: "+15005550001" }));
  await mock.settings({ decline: "21610" });
  await refused(400, 21610, () => client.messages.create(message));
  await mock.settings({ decline: null });
  await refused(404, 20404, () => client.messages("SM00000000000000000000000000000000").fetch());
  for (const [fault, status, code] of [
    ["unauthorized", 401, 20003],
    ["rate_limit", 429, 20429],
    ["server", 500, 20500],
  ]) {
    await mock.settings({ next: [{ fault }] });
    await refused(status, code, () => client.messages.list());
  }
  await mock.settings({ next: null });

  // Calls.
  const dial = { to: message.to, from: message.from, url: "http://app.example/voice" };
  const call = await client.calls.create(dial);
  assert.strictEqual((await client.calls(call.sid).fetch()).status, "completed");
  await refused(400, 21217, () => client.calls.create({ ...dial, to: "+15005550001" }));
  await refused(400, 21220, () => client.calls(call.sid).update({ status: "completed" }));
  assert.deepStrictEqual((await client.calls.list({ status: "completed" })).map((found) => found.sid), [call.sid]);

  // Webhooks, and a wrong one.
  const url = await mock.receive();
  await mock.api("PATCH", "", { webhookUrl: url });
  const told = await client.messages.create(message);
  for (const status of ["sent", "delivered"]) {
    const { headers, body } = await mock.received();
    const form = verify(headers, body, url);
    assert.deepStrictEqual([form.MessageSid, form.MessageStatus], [told.sid, status]);
  }
  await client.calls.create(dial);
  for (const status of ["initiated", "ringing", "in-progress", "completed"]) {
    const { headers, body } = await mock.received();
    const form = verify(headers, body, url);
    assert.strictEqual(form.CallStatus, status);
  }
  await mock.settings({ webhooks: { badSignature: true, events: ["message.sent"] } });
  await client.messages.create(message);
  const bad = await mock.received();
  await raises(async () => verify(bad.headers, bad.body, url));
});
