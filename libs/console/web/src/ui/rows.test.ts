import { describe, expect, it } from "vitest";

import { range, shifted } from "./rows";

const list = (...ids: string[]) => ids.map((id) => ({ id }));

describe("rows", () => {
  it("draws those in view and a few beyond", () => {
    expect(range(0, 560, 56, 10_000)).toEqual({ from: 0, to: 16 });
    expect(range(56_000, 560, 56, 10_000)).toEqual({ from: 994, to: 1016 });
    expect(range(56_000, 560, 56, 3)).toEqual({ from: 3, to: 3 });
    expect(range(0, 560, 56, 0)).toEqual({ from: 0, to: 0 });
  });

  it("knows how far a row moved", () => {
    expect(shifted(list("a", "b"), list("x", "y", "a", "b"), 1)).toBe(2);
    expect(shifted(list("a", "b"), list("b"), 1)).toBe(-1);
    expect(shifted(list("a", "b"), list("a"), 1)).toBe(0);
    expect(shifted([], list("a"), 0)).toBe(0);
  });
});
