import { describe, expect, it } from "vitest";

import type { Schema } from "../api/client";
import { fold, matches } from "./matching";

const message = {
  subject: "Your CODE für Ärger",
  from: { name: "Ada Lovelace", address: "ada@example.com" },
  to: [{ name: "", address: "bob@example.com" }],
  cc: [],
  bcc: [],
  envelope: { from: "bounce@example.com", to: ["hidden@example.com"] },
  isRead: false,
} as unknown as Schema["MessageSummary"];

describe("matching", () => {
  it("looks where the server looks", () => {
    const found = ["", "code", "ÄRGER", "lovelace", "BOB@", "bounce", "hidden", "ada@example.com"];
    for (const q of found) expect(matches(message, { q, unread: false }), q).toBe(true);
    expect(matches(message, { q: "nobody", unread: false })).toBe(false);
    expect(matches({ ...message, isRead: true }, { q: "", unread: true })).toBe(false);
  });

  it("compares letters as the server does", () => {
    expect(fold("ΟΔΟΣ")).toBe(fold("οδος"));
    expect(fold("STRASSE")).toBe(fold("straße"));
    expect(fold("ﬁle")).toBe("file");
  });
});
