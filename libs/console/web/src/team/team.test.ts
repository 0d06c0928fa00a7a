import { describe, expect, it } from "vitest";

import { words } from "./addresses";
import { matches } from "./audit";
import { daysUntil } from "./expiry";

describe("the team's screens", () => {
  it("take addresses as they are pasted", () => {
    const pasted = " ada@a.test, eve@a.test;\n<bob@a.test>\tada@a.test ,, ";
    expect(words(pasted)).toEqual(["ada@a.test", "eve@a.test", "bob@a.test"]);
    expect(words("")).toEqual([]);
  });

  it("count days until a key expires", () => {
    const now = Date.parse("2026-11-29T12:00:00Z");
    const cases: [string, number][] = [
      ["2026-11-29T11:59:59Z", -1],
      ["2026-11-29T23:00:00Z", 0],
      ["2026-12-13T12:00:00Z", 14],
    ];
    for (const [iso, days] of cases) expect(daysUntil(iso, now), iso).toBe(days);
  });

  it("find entries of the audit log by what is shown of them", () => {
    const entry = {
      id: "1",
      at: "2026-11-29T12:00:00Z",
      actor: { type: "user" as const, id: "2", name: "Ada" },
      action: "inbox.created",
      target: { type: "inbox", id: "3", name: "Sign-up tests" },
    };
    for (const found of ["", "ADA", "inbox.cr", "sign-up", "ada created"]) {
      expect(matches(entry, found), found).toBe(true);
    }
    for (const not of ["eve", "ada deleted"]) expect(matches(entry, not), not).toBe(false);
  });
});
