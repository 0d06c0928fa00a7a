// oidc-provider with its adapter in memory, and pages that sign somebody in at once.
// Usage: node oidc-provider.mjs PORT CLIENT SECRET CALLBACK
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const [port, client_id, client_secret, callback] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    { client_id, client_secret, redirect_uris: [callback], token_endpoint_auth_method: "client_secret_post" },
  ],
  claims: { openid: ["sub"], email: ["email"], profile: ["name"] },
  cookies: { keys: ["a key of cookies"] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: "ada@example.com", name: "Ada" }),
  }),
});

async function signIn(request, response) {
  const grant = new provider.Grant({ accountId: "ada", clientId: client_id });
  grant.addOIDCScope("openid profile email");
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { login: { accountId: "ada" }, consent });
}

const answer = provider.callback();
const server = createServer((request, response) =>
  request.url.startsWith("/interaction/") ? signIn(request, response) : answer(request, response),
);
server.listen(Number(port), "127.0.0.1");
