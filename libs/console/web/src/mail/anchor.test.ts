import { describe, expect, it } from "vitest";

import { Anchor } from "./anchor";

function listOf(ids: string[]) {
  return {
    ids,
    at(index: number) {
      const id = this.ids[index];
      return id === undefined ? undefined : { id };
    },
    indexOf(id: string) {
      return this.ids.indexOf(id);
    },
  };
}

describe("an anchor", () => {
  it("tells by how many rows the one that somebody looks at moved", () => {
    const list = listOf(["a", "b", "c", "d", "e"]);
    const anchor = new Anchor();
    anchor.hold(list, 1, 4);
    list.ids = ["new", "newer", "a", "b", "c", "d", "e"];
    expect(anchor.moved(list, 3)).toBe(2);
    list.ids = ["a", "d", "e"];
    expect(anchor.moved(list, 3)).toBe(-2);
  });

  it("goes by the nearest one that is still there", () => {
    const list = listOf(["a", "b", "c", "d", "e"]);
    const anchor = new Anchor();
    anchor.hold(list, 0, 4);
    list.ids = ["new", "a", "b", "d", "e"];
    expect(anchor.moved(list, 2)).toBe(1);
    list.ids = ["other"];
    expect(anchor.moved(list, 2)).toBe(0);
  });

  it("knows nothing of another list", () => {
    const anchor = new Anchor();
    anchor.hold(listOf(["a", "b"]), 0, 1);
    expect(anchor.moved(listOf(["b", "a"]), 0)).toBe(0);
  });
});
