import { describe, expect, it } from "vitest";

import type { Schema } from "../api/client";
import { matches } from "./matching";
import { NOTHING, parse } from "./search";

const message = {
  subject: "Your CODE für Ärger",
  from: { name: "Ada Lovelace", address: "ada@example.com" },
  to: [{ name: "", address: "bob@example.com" }],
  cc: [],
  bcc: [],
  envelope: { from: "bounce@example.com", to: ["hidden@example.com"] },
  isRead: false,
  attachmentCount: 0,
  receivedAt: new Date(2026, 0, 31, 12).toISOString(),
} as unknown as Schema["MessageSummary"];

describe("matching", () => {
  it("looks where the server looks", () => {
    const found = ["", "code", "ÄRGER", "lovelace", "BOB@", "bounce", "hidden", "ada@example.com"];
    for (const q of found) expect(matches(message, { ...NOTHING, q }), q).toBe(true);
    expect(matches(message, { ...NOTHING, q: "nobody" })).toBe(false);
  });

  it("holds a message against each operator", () => {
    const yes = [
      "is:unread",
      "to:bob",
      "to:hidden",
      "from:lovelace",
      "from:bounce",
      "subject:code",
    ];
    yes.push("after:2026-01-31", "before:2026-02-01", "to:BOB from:ada code");
    for (const typed of yes) expect(matches(message, parse(typed)), typed).toBe(true);
    const no = ["has:attachment", "to:ada", "from:bob", "subject:ada", "to:bob from:bob"];
    no.push("after:2026-02-01", "before:2026-01-31");
    for (const typed of no) expect(matches(message, parse(typed)), typed).toBe(false);
    expect(matches({ ...message, isRead: true }, parse("is:unread"))).toBe(false);
    expect(matches({ ...message, attachmentCount: 1 }, parse("has:attachment"))).toBe(true);
  });
});
