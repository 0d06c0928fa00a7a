import { describe, expect, it } from "vitest";

import { type Client, isBroken, worstFirst } from "./checks";

describe("clients", () => {
  const client = (name: string, score: number, weight = 1) => ({ name, score, weight }) as Client;

  it("come with those that show it worst first, and without those that do not count", () => {
    const all = [client("b", 90), client("a", 90), client("c", 10, 0), client("d", 40)];
    expect(worstFirst(all).map(({ name }) => name)).toEqual(["d", "a", "b"]);
    expect(all[0]?.name).toBe("b");
  });
});

describe("a link", () => {
  it("is broken by an error or a status that says so", () => {
    expect(isBroken({ status: 200, error: null })).toBe(false);
    expect(isBroken({ status: 404, error: null })).toBe(true);
    expect(isBroken({ status: null, error: "dns_error" })).toBe(true);
    expect(isBroken({ status: 302, error: "too_many_redirects" })).toBe(true);
  });
});
