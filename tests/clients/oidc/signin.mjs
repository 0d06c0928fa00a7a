// Signs people in with openid-client. ISSUER, CLIENT_ID, CLIENT_SECRET and PORT are its settings.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import * as oidc from "openid-client";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT = "3000" } = process.env;
// Without the first it takes an ID token from the token endpoint unread, as TLS would vouch for it.
const execute = [oidc.enableNonRepudiationChecks];
if (ISSUER.startsWith("http://")) execute.push(oidc.allowInsecureRequests);
const sessions = new Map();
let home, discovered;

async function provider() {
  const options = { execute, timeout: 10 };
  discovered ??= await oidc.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, options);
  return discovered;
}

const pages = {
  async "/login"(session, url) {
    const verifier = oidc.randomPKCECodeVerifier();
    session.checks = {
      pkceCodeVerifier: verifier,
      expectedState: oidc.randomState(),
      expectedNonce: oidc.randomNonce(),
      idTokenExpected: true,
    };
    return oidc.buildAuthorizationUrl(await provider(), {
      redirect_uri: `${home}/callback`,
      scope: "openid profile email offline_access",
      state: session.checks.expectedState,
      nonce: session.checks.expectedNonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      login_hint: url.searchParams.get("login_hint") ?? "",
    });
  },
  async "/callback"(session, url) {
    const { checks } = session;
    delete session.checks;
    const tokens = await oidc.authorizationCodeGrant(await provider(), url, checks);
    const user = await oidc.fetchUserInfo(await provider(), tokens.access_token, tokens.claims().sub);
    if (!user.email) throw new Refused("there is no mail address");
    session.tokens = tokens;
    return user;
  },
  async "/refresh"(session) {
    const tokens = await oidc.refreshTokenGrant(await provider(), session.tokens.refresh_token);
    session.tokens = { ...session.tokens, ...tokens };
    return tokens.claims();
  },
  async "/logout"(session) {
    return oidc.buildEndSessionUrl(await provider(), {
      id_token_hint: session.tokens.id_token,
      post_logout_redirect_uri: `${home}/`,
    });
  },
  async "/"(session) {
    session.tokens = undefined;
    return "signed out";
  },
};

// What the application finds wrong; the library has errors of its own.
class Refused extends Error {}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, home);
  const id = /sid=([\w-]+)/.exec(request.headers.cookie)?.[1] ?? randomUUID();
  if (!sessions.has(id)) sessions.set(id, {});
  response.setHeader("Set-Cookie", `sid=${id}; HttpOnly; SameSite=Lax; Path=/`);
  try {
    const page = pages[url.pathname];
    const answer = await page(sessions.get(id), url);
    if (answer instanceof URL) response.writeHead(302, { Location: answer.href }).end();
    else response.end(JSON.stringify(answer));
  } catch (error) {
    response.writeHead(error instanceof Refused ? 403 : 401).end(String(error));
  }
});
server.listen(Number(PORT), "127.0.0.1", () => {
  home = `http://localhost:${server.address().port}`;
  console.log(`listening ${server.address().port}`);
});
