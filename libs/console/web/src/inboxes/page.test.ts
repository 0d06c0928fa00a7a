import { describe, expect, it } from "vitest";

import { PAGE, queryOf } from "./page.svelte";

describe("filter of inboxes", () => {
  it("asks for what is wanted, and for nothing else", () => {
    const none = { q: "", kind: "all", project: "" } as const;
    expect(queryOf(none)).toEqual({ limit: PAGE });
    expect(queryOf({ ...none, kind: "lasting" })).toEqual({ limit: PAGE, disposable: false });
    expect(queryOf({ q: "a", kind: "disposable", project: "p" })).toEqual({
      limit: PAGE,
      q: "a",
      projectId: "p",
      disposable: true,
    });
  });
});
