// What an application does with Segment, over the official SDK. `client` comes from the mock's own snippet, which the
// test puts before this.

const assert = require("node:assert");
const { accept } = require("harness");

/** Sends an event, and gives what became of it: nothing, or why it failed. */
async function sent(analytics, event) {
  const outcome = new Promise((done) => analytics.track(event, (error) => done(error)));
  await analytics.flush();
  return outcome;
}

accept(async (mock) => {
  const events = async (name) => {
    const found = await mock.api("GET", "/objects?kind=events&limit=200");
    return found.map((entry) => entry.object).filter((event) => event.event === name);
  };
  client.identify({ userId: "ada", traits: { plan: "pro" } });
  client.group({ userId: "ada", groupId: "acme" });
  await client.flush();
  assert.strictEqual((await events("Signed Up")).length, 1);
  const profiles = await mock.api("GET", "/objects?kind=profiles");
  assert.deepStrictEqual(profiles.map((profile) => profile.id).sort(), ["group:acme", "user:ada"]);

  // A batch, whose events have ids of their own.
  for (let number = 0; number < 40; number++) client.track({ userId: `u${number}`, event: "Counted" });
  await client.flush();
  assert.strictEqual((await events("Counted")).length, 40);

  // Errors: a refusal is no delivery, and what fails for a while is tried again.
  await mock.settings({ next: [{ fault: "unauthorized" }] });
  assert.match(String(await sent(client, { userId: "ada", event: "Failed" })), /401/);
  await mock.settings({ next: [{ fault: "rate_limit" }, { fault: "server" }] });
  assert.strictEqual(await sent(client, { userId: "ada", event: "Tried again" }), undefined);
  assert.strictEqual((await events("Tried again")).length, 1);
  assert.strictEqual((await events("Failed")).length, 0);
});
