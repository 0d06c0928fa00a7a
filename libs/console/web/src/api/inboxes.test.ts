import { beforeEach, describe, expect, it } from "vitest";

import { type Inbox, inboxes } from "./inboxes.svelte";

function inbox(id: string, more: Partial<Inbox> = {}): Inbox {
  return { id, name: id, expiresAt: null, unreadCount: 0, ...more } as Inbox;
}

describe("inboxes", () => {
  const disposable = (id: string, from: number) =>
    inbox(id, { expiresAt: new Date(Date.now() + from).toISOString() });

  beforeEach(() => {
    inboxes.known.value = {
      projects: [],
      lasting: [inbox("a"), inbox("b")],
      disposable: [disposable("over", -1_000), disposable("c", 60_000)],
      disposableTotal: 2,
    };
  });

  it("are counted beside the open one while they are there, at most a hundred", () => {
    expect(inboxes.countedBeside("a")).toEqual(["b", "c"]);
    expect(inboxes.countedBeside("elsewhere")).toEqual(["a", "b", "c"]);
    for (let more = 0; more < 200; more++) inboxes.put(inbox(`more${more}`));
    expect(inboxes.countedBeside("a")).toHaveLength(100);
  });

  it("take over counts of those that are listed only", () => {
    inboxes.recount(inbox("b", { unreadCount: 7 }));
    expect(inboxes.get("b")?.unreadCount).toBe(7);
    inboxes.drop("b");
    inboxes.recount(inbox("b", { unreadCount: 8 }));
    expect(inboxes.get("b")).toBeUndefined();
  });

  it("are gone once nobody is signed in", () => {
    inboxes.clear();
    expect(inboxes.all).toEqual([]);
  });
});
