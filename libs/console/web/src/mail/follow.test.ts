import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Follow } from "./follow.svelte";

let follow: Follow;
let opened: string[];
const open = (id: string) => {
  opened.push(id);
  follow.shown(id);
};

beforeEach(() => {
  vi.useFakeTimers();
  opened = [];
  follow = new Follow();
});
afterEach(() => vi.useRealTimers());

describe("follow", () => {
  it("opens nothing until it is on", () => {
    follow.newest("1", open);
    vi.advanceTimersByTime(1_000);
    follow.toggle();
    follow.newest("1", open);
    vi.advanceTimersByTime(1_000);
    expect(opened).toEqual(["1"]);
    follow.toggle();
    follow.newest("2", open);
    vi.advanceTimersByTime(1_000);
    expect([opened, follow.state]).toEqual([["1"], "off"]);
  });

  it("opens the last of many that come together, once", () => {
    follow.toggle();
    for (const id of ["1", "2", "3"]) {
      follow.newest(id, open);
      vi.advanceTimersByTime(200);
    }
    expect(opened).toEqual([]);
    vi.advanceTimersByTime(50);
    follow.newest("3", open);
    vi.advanceTimersByTime(1_000);
    expect([opened, follow.state]).toEqual([["3"], "on"]);
  });

  it("pauses when somebody goes elsewhere, and goes on when told", () => {
    follow.toggle();
    follow.shown("7");
    follow.newest("8", open);
    vi.advanceTimersByTime(250);
    expect([opened, follow.state]).toEqual([["8"], "on"]);
    follow.newest("9", open);
    follow.shown("7");
    vi.advanceTimersByTime(1_000);
    expect([opened, follow.state]).toEqual([["8"], "paused"]);
    follow.toggle();
    follow.newest("9", open);
    vi.advanceTimersByTime(250);
    expect([opened, follow.state]).toEqual([["8", "9"], "on"]);
  });
});
