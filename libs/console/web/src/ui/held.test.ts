import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from "vitest";

import { type Change, Held, UNDO } from "./held";

interface Spied extends Change {
  make: Mock<Change["make"]>;
  undo: Mock<Change["undo"]>;
}

function change(make: Change["make"] = async () => {}): Spied {
  return { make: vi.fn(make), undo: vi.fn() };
}

let paused = false;
let held: Held;

beforeEach(() => {
  vi.useFakeTimers();
  paused = false;
  held = new Held(() => paused);
});
afterEach(() => vi.useRealTimers());

describe("held", () => {
  it("makes a change once its time is over, and not before", async () => {
    const one = change();
    held.add(one);
    await vi.advanceTimersByTimeAsync(UNDO - 1);
    expect(one.make).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(one.make).toHaveBeenCalledExactlyOnceWith(false);
    expect(held.undo(one)).toBe(false);
    expect(one.undo).not.toHaveBeenCalled();
  });

  it("undoes the latest first, and makes none of what was undone", async () => {
    const [one, two] = [change(), change()];
    held.add(one);
    held.add(two);
    expect(held.undo()).toBe(true);
    expect([one.undo.mock.calls.length, two.undo.mock.calls.length]).toEqual([0, 1]);
    expect(held.undo(one)).toBe(true);
    expect(held.undo()).toBe(false);
    await vi.advanceTimersByTimeAsync(2 * UNDO);
    expect([one.make.mock.calls.length, two.make.mock.calls.length]).toEqual([0, 0]);
  });

  it("waits while somebody is about to undo", async () => {
    const one = change();
    held.add(one);
    paused = true;
    await vi.advanceTimersByTimeAsync(3 * UNDO);
    expect(one.make).not.toHaveBeenCalled();
    paused = false;
    await vi.advanceTimersByTimeAsync(UNDO);
    expect(one.make).toHaveBeenCalledOnce();
  });

  it("makes all when asked to, and waits for those under way", async () => {
    let end = () => {};
    const slow = change(() => new Promise((resolve) => (end = resolve)));
    held.add(slow);
    await vi.advanceTimersByTimeAsync(UNDO);
    const quick = change();
    held.add(quick);
    let flushed = false;
    const done = held.flush().then(() => (flushed = true));
    await vi.advanceTimersByTimeAsync(0);
    expect([quick.make.mock.calls.length, flushed]).toEqual([1, false]);
    end();
    await done;
    expect(slow.make).toHaveBeenCalledOnce();
  });

  it("says to a change that the page is being left", () => {
    const one = change();
    held.add(one);
    held.leave();
    expect(one.make).toHaveBeenCalledExactlyOnceWith(true);
  });
});
