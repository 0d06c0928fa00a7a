import { describe, expect, it } from "vitest";

import { type Client, worstFirst } from "./checks";

describe("clients", () => {
  const client = (name: string, score: number, weight = 1) => ({ name, score, weight }) as Client;

  it("come with those that show it worst first, and without those that do not count", () => {
    const all = [client("b", 90), client("a", 90), client("c", 10, 0), client("d", 40)];
    expect(worstFirst(all).map(({ name }) => name)).toEqual(["d", "a", "b"]);
    expect(all[0]?.name).toBe("b");
  });
});
