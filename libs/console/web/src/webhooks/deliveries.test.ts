import { describe, expect, it } from "vitest";

import { failedHours, moving } from "./deliveries";
import type { Delivery } from "./webhooks.svelte";

const NOW = Date.parse("2026-01-31T09:30:00.000Z");

function delivery(id: string, more: Partial<Delivery> = {}): Delivery {
  return {
    id,
    webhookId: "w",
    event: "message.received",
    messageId: "m",
    status: "failed",
    httpStatus: null,
    error: null,
    attempts: 1,
    durationMs: null,
    createdAt: "2026-01-31T09:10:00.000Z",
    nextAttemptAt: null,
    completedAt: null,
    redeliveryOf: null,
    ...more,
  };
}

describe("deliveries", () => {
  it("are looked at again while one is pending or its attempt is due", () => {
    const retrying = (nextAttemptAt: string) =>
      delivery("a", { status: "retrying", nextAttemptAt });
    expect(moving([delivery("a"), delivery("b", { status: "succeeded" })], NOW)).toBe(false);
    expect(moving([delivery("a"), delivery("b", { status: "pending" })], NOW)).toBe(true);
    expect(moving([retrying("2026-01-31T09:30:02.000Z")], NOW)).toBe(true);
    expect(moving([retrying("2026-01-31T09:29:00.000Z")], NOW)).toBe(true);
    expect(moving([retrying("2026-01-31T11:30:00.000Z")], NOW)).toBe(false);
  });

  it("that failed are put together by the hour, oldest first", () => {
    const earlier = { createdAt: "2026-01-31T08:59:59.999Z" };
    const hours = failedHours([delivery("c"), delivery("b"), delivery("a", earlier)]);
    expect(hours.map(({ deliveries }) => deliveries.map(({ id }) => id))).toEqual([
      ["b", "c"],
      ["a"],
    ]);
    expect(hours[0]?.from).toBe(Date.parse("2026-01-31T09:00:00.000Z"));
    expect(hours[0]?.to).toBe(Date.parse("2026-01-31T10:00:00.000Z"));
  });

  it("are not sent again when they were already, nor when they are tests", () => {
    const again = delivery("c", { redeliveryOf: "a", status: "succeeded" });
    const twice = delivery("d", { redeliveryOf: "b" });
    const test = delivery("t", { event: "webhook.test" });
    const found = failedHours([twice, again, test, delivery("b"), delivery("a")]);
    expect(found.flatMap(({ deliveries }) => deliveries.map(({ id }) => id))).toEqual(["d"]);
    expect(failedHours([delivery("a", { status: "retrying" })])).toEqual([]);
  });
});
