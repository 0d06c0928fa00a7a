import { describe, expect, it } from "vitest";

import { Feed, merged } from "./feed.svelte";

const of = (...ids: string[]) => ids.map((id) => ({ id }));

describe("a log", () => {
  it("has each entry once, as it was fetched last, the newest first", () => {
    const known = [
      { id: "b", state: 1 },
      { id: "a", state: 1 },
    ];
    const found = [
      { id: "c", state: 2 },
      { id: "b", state: 2 },
    ];
    expect(merged(known, found)).toEqual([
      { id: "c", state: 2 },
      { id: "b", state: 2 },
      { id: "a", state: 1 },
    ]);
  });

  it("takes in what came since, and what is older until there is no more", async () => {
    const asked: string[] = [];
    const pages = [of("c", "b", "a"), of("a")];
    const feed = new Feed({
      newest: async () => of("d", "c"),
      since: async ({ id }) => {
        asked.push(`since ${id}`);
        return of("e", "d");
      },
      older: async (known) => {
        asked.push(`older than ${known.at(-1)?.id}`);
        return pages.shift() ?? of("nobody asks");
      },
    });
    await feed.look();
    expect(asked).toEqual([]);
    await feed.all.reload();
    await feed.look();
    for (let times = 0; times < 4; times++) await feed.more();
    expect(asked).toEqual(["since d", "older than c", "older than a"]);
    expect(feed.all.value).toEqual(of("e", "d", "c", "b", "a"));
  });

  it("stays as it is where a look fails, and looks again", async () => {
    let answers = [of("a"), new Error("away"), of("b", "a")];
    const feed = new Feed({
      newest: async () => {
        const [answer] = answers;
        answers = answers.slice(1);
        if (answer instanceof Error) throw answer;
        return answer ?? [];
      },
    });
    await feed.all.reload();
    await feed.look();
    expect(feed.all.value).toEqual(of("a"));
    await feed.look();
    expect(feed.all.value).toEqual(of("b", "a"));
  });
});
