import { describe, expect, it } from "vitest";

import { fold, has } from "./words";

describe("words", () => {
  it("compares letters as the server does", () => {
    expect(fold("ΟΔΟΣ")).toBe(fold("οδος"));
    expect(fold("STRASSE")).toBe(fold("straße"));
    expect(fold("ﬁle")).toBe("file");
  });

  it("finds nothing in no text, but looks for nothing in vain nowhere", () => {
    expect([has([], "a"), has([], ""), has(["ÄRGER"], "ärg")]).toEqual([false, true, true]);
  });
});
