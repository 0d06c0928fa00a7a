import { describe, expect, it } from "vitest";

import { Batch } from "./batch.svelte";

describe("batch", () => {
  it("does one after the other", async () => {
    const batch = new Batch();
    const done: string[] = [];
    await batch.run(["a", "b"], async (item) => {
      expect(batch.running).toBe(true);
      done.push(item);
    });
    expect(done).toEqual(["a", "b"]);
    expect([batch.done, batch.total, batch.running]).toEqual([2, 2, false]);
  });

  it("stops between two, and where one fails", async () => {
    const batch = new Batch();
    await batch.run([1, 2, 3], async (item) => {
      if (item === 2) batch.stop();
    });
    expect([batch.done, batch.running]).toEqual([2, false]);
    const failing = batch.run([1, 2, 3], async (item) => {
      if (item === 2) throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect([batch.done, batch.running]).toEqual([1, false]);
  });
});
