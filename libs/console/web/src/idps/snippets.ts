/** What a client of a provider is configured with. */
export interface Client {
  issuer: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
}

export interface Snippet<C> {
  id: string;
  label: string;
  of: (client: C) => string;
}

/** A string literal of JavaScript and Python. */
export const quoted = (text: string) => JSON.stringify(text);

export const snippets: Snippet<Client>[] = [
  {
    id: "env",
    label: ".env",
    of: ({ issuer, clientId, clientSecret, redirectUri }) => `OIDC_ISSUER=${issuer}
OIDC_CLIENT_ID=${clientId}
OIDC_CLIENT_SECRET=${clientSecret}
OIDC_REDIRECT_URI=${redirectUri}`,
  },
  {
    id: "node",
    label: "Node (openid-client)",
    of: ({
      issuer,
      clientId,
      clientSecret,
      redirectUri,
    }) => `import * as client from "openid-client";

const config = await client.discovery(
  new URL(${quoted(issuer)}),
  ${quoted(clientId)},
  ${quoted(clientSecret)},
  undefined,
  { execute: [client.allowInsecureRequests] }, // over plain http only
);
const to = client.buildAuthorizationUrl(config, {
  redirect_uri: ${quoted(redirectUri)},
  scope: "openid email profile",
});`,
  },
  {
    id: "authlib",
    label: "Python (Authlib, Flask)",
    of: ({ issuer, clientId, clientSecret }) => `oauth = OAuth(app)
oauth.register(
    "trapline",
    client_id=${quoted(clientId)},
    client_secret=${quoted(clientSecret)},
    server_metadata_url=${quoted(`${issuer}/.well-known/openid-configuration`)},
    client_kwargs={"scope": "openid email profile"},
)`,
  },
  {
    id: "spring",
    label: "Java (Spring Security)",
    of: ({
      issuer,
      clientId,
      clientSecret,
    }) => `spring.security.oauth2.client.registration.trapline.client-id=${clientId}
spring.security.oauth2.client.registration.trapline.client-secret=${clientSecret}
spring.security.oauth2.client.registration.trapline.scope=openid,email,profile
spring.security.oauth2.client.provider.trapline.issuer-uri=${issuer}`,
  },
  {
    id: "curl",
    label: "curl",
    of: ({ issuer, clientId, clientSecret }) => `curl ${issuer}/.well-known/openid-configuration
curl ${issuer}/token -u ${clientId}:${clientSecret} -d grant_type=client_credentials`,
  },
];

/** Where a browser signs in at a provider and comes back to the application. */
export function tryUrl(authorization: string, client: { clientId: string; redirectUri: string }) {
  const url = new URL(authorization);
  url.search = new URLSearchParams({
    client_id: client.clientId,
    response_type: "code",
    scope: "openid email profile",
    redirect_uri: client.redirectUri,
  }).toString();
  return url.href;
}
