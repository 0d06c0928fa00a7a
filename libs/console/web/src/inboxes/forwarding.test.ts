import { describe, expect, it } from "vitest";

import type { Schema } from "../api/client";
import { matching } from "./forwarding.svelte";

function message(subject: string, from: string): Schema["MessageSummary"] {
  const nobody = { to: [], cc: [], bcc: [], envelope: { from: "", to: ["Hidden@app.test"] } };
  return { subject, from: { name: "", address: from }, ...nobody } as never;
}

describe("automatic forwarding", () => {
  const messages = [
    message("Your INVOICE 2", "billing@a.test"),
    message("Invoice 1", "shop@a.test"),
    message("Hello", "billing@a.test"),
  ];

  it("counts what has all that is asked for, wherever that stands", () => {
    const none = { from: "", to: "", subject: "" };
    expect(matching(messages, none)).toBe(3);
    expect(matching(messages, { ...none, from: "BILLING@" })).toBe(2);
    expect(matching(messages, { ...none, from: "billing", subject: "invoice" })).toBe(1);
    expect(matching(messages, { ...none, to: "hidden@" })).toBe(3);
    expect(matching(messages, { ...none, to: "ada" })).toBe(0);
  });
});
