import { describe, expect, it } from "vitest";

import { fromUrl, isNothing, NOTHING, parse, times, toApi, toUrl } from "./search";

describe("search", () => {
  it("takes operators out of the words", () => {
    const typed = 'reset to:ada@example.com your from:"Ada L" is:unread has:attachment link';
    expect(parse(typed)).toEqual({
      ...NOTHING,
      q: "reset your link",
      to: "ada@example.com",
      from: "Ada L",
      unread: true,
      attachment: true,
    });
    expect(parse("SUBJECT:code after:2026-01-31 before:2026-02-01")).toEqual({
      ...NOTHING,
      subject: "code",
      after: "2026-01-31",
      before: "2026-02-01",
    });
  });

  it("looks for what is no operator, or not one yet", () => {
    const words = ["to:", "is:read", "has:link", "after:yesterday", "before:2026-02-30", "a:b"];
    for (const q of [...words, "https://x.test"]) expect(parse(q)).toEqual({ ...NOTHING, q });
    expect(parse('from:"Ada').from).toBe("Ada");
    expect(parse('"to:x y" z " "').q).toBe("to:x y z");
    expect(parse("")).toEqual(NOTHING);
    expect(parse(`to:${"x".repeat(300)}`).to).toHaveLength(200);
  });

  it("goes through the URL and back", () => {
    const filter = parse("a b to:c subject:d is:unread has:attachment after:2026-01-31");
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(toUrl(filter))) if (value) query.set(name, value);
    expect(fromUrl(query)).toEqual(filter);
    expect(isNothing(fromUrl(new URLSearchParams("unread=yes&after=soon&message=1")))).toBe(true);
  });

  it("asks the API for days of whoever looks", () => {
    const filter = parse("after:2026-01-31 before:2026-02-01");
    const { since, until } = times(filter);
    expect(new Date(since ?? "").getTime()).toBe(new Date(2026, 0, 31).getTime());
    expect(new Date(until ?? "").getTime()).toBe(new Date(2026, 1, 1).getTime() - 1);
    expect(toApi(filter)).toEqual({ since, until });
    expect(toApi(parse("x is:unread has:attachment"))).toEqual({
      q: "x",
      unread: true,
      hasAttachment: true,
    });
  });
});
