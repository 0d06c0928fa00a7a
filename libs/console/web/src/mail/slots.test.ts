import { describe, expect, it } from "vitest";

import { type Item, Slots, WINDOW } from "./slots";

/** The next of a row of numbers that look random and are the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function item(number: number): Item {
  const text = String(number).padStart(9, "0");
  return { id: text, receivedAt: text };
}

function fetch(list: Item[], slots: Slots<Item>, offset: number): void {
  slots.lay(offset, list.slice(offset, offset + WINDOW), list.length);
}

describe("slots", () => {
  it("is the list of the server after arrivals, deletions and windows in any order", () => {
    for (let seed = 1; seed <= 8; seed++) {
      const next = numbers(seed);
      let list = Array.from({ length: next(900) }, (_, index) => item(900 - index));
      let newest = 1_000;
      const slots = new Slots<Item>();
      fetch(list, slots, 0);
      for (let step = 0; step < 200; step++) {
        const what = next(3);
        if (what === 0) {
          list = [item(newest), ...list];
          slots.insert(item(newest++));
        } else if (what === 1 && list.length > 0) {
          const gone = list[next(list.length)]?.id ?? "";
          const known = slots.indexOf(gone) >= 0;
          list = list.filter((row) => row.id !== gone);
          // The deletion of a row that was not fetched leaves a slot too many, until a window is laid.
          expect(slots.remove([gone])).toBe(known ? 1 : 0);
        } else {
          fetch(list, slots, next(10) * WINDOW);
        }
        const rows = Array.from({ length: slots.total }, (_, index) => slots.at(index)?.id);
        const ids = rows.filter((id) => id !== undefined);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids).toEqual([...ids].sort().reverse());
      }
      fetch(list, slots, 0);
      for (const offset of slots.missing(0, slots.total)) fetch(list, slots, offset);
      const rows = Array.from({ length: slots.total }, (_, index) => slots.at(index)?.id);
      expect(rows).toEqual(list.map((row) => row.id));
    }
  });

  it("takes a row in once, at its place", () => {
    const slots = new Slots<Item>();
    slots.lay(0, [item(5), item(3)], 2);
    expect(slots.insert(item(4))).toBe(1);
    expect(slots.insert(item(4))).toBe(-1);
    expect(slots.insert(item(6))).toBe(0);
    expect(slots.total).toBe(4);
  });
});
