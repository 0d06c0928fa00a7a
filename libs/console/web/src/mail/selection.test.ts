import { beforeEach, describe, expect, it } from "vitest";

import type { Summary } from "./list.svelte";
import { Selection } from "./selection.svelte";

/** Newest first; `undefined` was not fetched. */
let list: (number | undefined)[];
let selection: Selection;

function message(number: number): Summary {
  const id = String(number).padStart(3, "0");
  return { id, receivedAt: id } as Summary;
}
function id(number: number): string {
  return message(number).id;
}
function selected(): number[] {
  return selection.ids.map(Number).sort((a, b) => a - b);
}

const rows = {
  get total() {
    return list.length;
  },
  at: (index: number) => {
    const number = list[index];
    return number === undefined ? undefined : message(number);
  },
  indexOf: (id: string) => list.findIndex((number) => number === Number(id)),
  known: () => list.filter((number) => number !== undefined).map(message),
};

beforeEach(() => {
  list = [9, 8, 7, 6, 5, undefined, undefined];
  selection = new Selection(() => rows);
});

describe("selection", () => {
  it("stays with its messages while others come and go", () => {
    selection.toggle(message(8));
    selection.toggle(message(6));
    list = [11, 10, 9, 6, 5];
    selection.drop([id(8), id(7)]);
    expect(selected()).toEqual([6]);
    selection.toggle(message(6));
    expect(selection.size).toBe(0);
  });

  it("reaches from where one began, and less far again", () => {
    selection.toggle(message(5));
    selection.toggle(message(8));
    selection.reach(id(6));
    expect(selected()).toEqual([5, 6, 7, 8]);
    selection.reach(id(7));
    expect(selected()).toEqual([5, 7, 8]);
    selection.reach(id(9));
    expect(selected()).toEqual([5, 8, 9]);
  });

  it("extends by keys from the open message on, and back", () => {
    expect(selection.extend(1, id(8))).toBe(id(7));
    expect(selection.extend(1, id(8))).toBe(id(6));
    expect(selected()).toEqual([6, 7, 8]);
    expect(selection.extend(-1, id(8))).toBe(id(7));
    expect(selected()).toEqual([7, 8]);
    for (let step = 0; step < 9; step++) selection.extend(-1, id(8));
    expect(selected()).toEqual([8, 9]);
  });

  it("goes on from the start where its own row is gone", () => {
    selection.toggle(message(8));
    list = [9, 7, 6];
    selection.drop([id(8)]);
    selection.reach(id(6), id(7));
    expect(selected()).toEqual([6, 7]);
  });

  it("is all that were fetched, then all that match, without what comes later", () => {
    selection.all();
    expect([selection.size, selection.isEverything]).toEqual([5, false]);
    selection.all();
    expect([selection.size, selection.isEverything]).toEqual([7, true]);
    list = [10, ...list];
    expect(selection.size).toBe(7);
    expect([selection.has(message(10)), selection.has(message(3))]).toEqual([false, true]);
    selection.toggle(message(3));
    expect([selection.size, selection.has(message(3))]).toEqual([6, false]);
    selection.reach(id(8), id(9));
    expect(selected()).toEqual([8, 9].slice(0, 2));
  });

  it("has nothing of an empty list", () => {
    list = [];
    selection.all();
    selection.everything();
    expect([selection.size, selection.isEverything]).toEqual([0, false]);
  });
});
