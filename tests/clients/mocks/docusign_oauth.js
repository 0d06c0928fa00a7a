// DocuSign's OAuth over the official SDK, which speaks https only: at the server's own listener, whose authority
// NODE_EXTRA_CA_CERTS names. The mock's own snippets come before this.

const assert = require("node:assert");
const { generateKeyPairSync } = require("node:crypto");
const { accept } = require("harness");

accept(async (mock) => {
  const { addresses, credentials } = await mock.api("GET");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs1", format: "pem" });
  client.setOAuthBasePath(addresses.tls.replace("https://", ""));
  const { integrationKey, clientSecret, userId, accessToken } = credentials;
  const answer = await client.requestJWTUserToken(integrationKey, userId, ["signature"], Buffer.from(pem), 3600);
  assert.strictEqual(answer.body.access_token, accessToken);
  const byCode = await client.generateAccessToken(integrationKey, clientSecret, "code");
  assert.strictEqual(byCode.accessToken, accessToken);

  // What the SDK is told leads back over TLS, and the SDK follows it.
  const [found] = (await client.getUserInfo(accessToken)).accounts;
  assert.deepStrictEqual([found.accountId, found.baseUri], [account, addresses.tls]);
  client.setBasePath(`${found.baseUri}/restapi`);
  const page = await new docusign.EnvelopesApi(client).listStatusChanges(account, { fromDate: "2026-01-01" });
  assert.strictEqual(page.totalSetSize, "0");
});
