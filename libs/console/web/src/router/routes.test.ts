import { describe, expect, it } from "vitest";

import { match, safeNext } from "./routes";

describe("routes", () => {
  it("finds the screen and its parameters", () => {
    expect(match("/")).toEqual({ name: "home", params: {} });
    expect(match("/inboxes/06h2")).toEqual({ name: "inbox", params: { id: "06h2" } });
    expect(match("/inboxes/06h2/connect")?.name).toBe("connect");
    for (const path of ["/docs/", "/inboxes/a.b", "/inboxes/1/2", "/api/inboxes", "/status"]) {
      expect(match(path), path).toBeUndefined();
    }
  });

  it("goes on only within the console after signing in", () => {
    expect(safeNext("/inboxes/1?message=2")).toBe("/inboxes/1?message=2");
    const elsewhere = [
      "//evil.test/",
      "https://evil.test",
      "/\\evil.test",
      "/sign-in",
      "/link",
      "/docs/",
    ];
    for (const next of [null, "", "javascript:alert(1)", "/\t/evil.test", ...elsewhere]) {
      expect(safeNext(next), String(next)).toBe("/");
    }
  });
});
