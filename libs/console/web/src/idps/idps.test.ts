import { describe, expect, it } from "vitest";

import { lines } from "./lines";
import { certificateOf, samlSnippets } from "./saml";
import { snippets, tryUrl } from "./snippets";

describe("identity providers", () => {
  it("take redirect URIs as lines", () => {
    expect(lines(" http://a/ \n\n\r\nhttp://b/\n")).toEqual(["http://a/", "http://b/"]);
    expect(lines("")).toEqual([]);
  });

  it("are named in every snippet by their own values", () => {
    const client = {
      issuer: "http://127.0.0.1:8025/idp/3f9c",
      clientId: "client-1",
      clientSecret: "secret-1",
      redirectUri: "http://localhost:3000/callback",
    };
    for (const { id, of } of snippets) {
      const code = of(client);
      for (const value of [client.issuer, client.clientId, client.clientSecret]) {
        expect(code, id).toContain(value);
      }
    }
  });

  it("are tried with the client's own redirect URI", () => {
    const redirectUri = "http://localhost:3000/callback?a=1&b=2";
    const url = new URL(tryUrl("http://here/idp/1/authorize", { clientId: "c", redirectUri }));
    expect(url.searchParams.get("redirect_uri")).toBe(redirectUri);
  });
});

describe("SAML", () => {
  const client = {
    metadataUrl: "http://127.0.0.1:8025/idp/3f9c/saml/metadata",
    signOnUrl: "http://127.0.0.1:8025/idp/3f9c/saml/sso",
    logoutUrl: "http://127.0.0.1:8025/idp/3f9c/saml/slo",
    certificate: "-----BEGIN CERTIFICATE-----",
    acsUrl: "https://app.example/acs",
    entityId: "https://app.example",
    nameIdFormat: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
  };

  it("names the provider and the application in every snippet", () => {
    for (const { id, of } of samlSnippets) {
      const code = of({ ...client, sign: "both" });
      expect(code, id).toContain(client.metadataUrl);
      if (id !== "curl") {
        for (const value of [client.acsUrl, client.entityId]) expect(code, id).toContain(value);
      }
    }
  });

  it("wants signed what the provider signs", () => {
    const cases = [
      ["both", "Signed: true,", "True"],
      ["assertion", "wantAuthnResponseSigned: false", '"wantMessagesSigned": False'],
      ["response", "wantAssertionsSigned: false", '"wantAssertionsSigned": False'],
    ] as const;
    const code = (id: string, sign: (typeof cases)[number][0]) =>
      samlSnippets.find((snippet) => snippet.id === id)?.of({ ...client, sign });
    for (const [sign, node, python] of cases) {
      expect(code("node", sign)).toContain(node);
      expect(code("python", sign)).toContain(python);
    }
  });

  it("has the certificate of the newest key that has one", () => {
    const key = (certificate: string | null) => ({
      kid: "k",
      alg: "RS256" as const,
      createdAt: "2026-01-31T09:30:00Z",
      certificate,
    });
    const of = (now: string | null, ...before: (string | null)[]) =>
      certificateOf({ signingKey: key(now), previousKeys: before.map(key) });
    expect([of("a\n", "b"), of(null, "b"), of(null)]).toEqual(["a", "b", ""]);
  });
});
