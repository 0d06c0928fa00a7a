import { describe, expect, it } from "vitest";

import { lines, objectOf } from "./lines";
import { snippets, tryUrl } from "./snippets";

describe("identity providers", () => {
  it("take redirect URIs as lines", () => {
    expect(lines(" http://a/ \n\n\r\nhttp://b/\n")).toEqual(["http://a/", "http://b/"]);
    expect(lines("")).toEqual([]);
  });

  it("take claims only where they are an object", () => {
    expect(objectOf(' {"plan": "pro"} ')).toEqual({ plan: "pro" });
    expect(objectOf(" ")).toEqual({});
    for (const typed of ["{", "[]", "null", "1", '"a"']) expect(objectOf(typed)).toBeUndefined();
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
