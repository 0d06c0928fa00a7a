import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError } from "./error";
import { LimitedAttempt } from "./limited.svelte";

function refusal(status: number, more: Partial<ConstructorParameters<typeof ApiError>[1]> = {}) {
  return () => Promise.reject(new ApiError("No.", { status, code: "no", ...more }));
}

describe("an attempt", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("counts down for as long as the server wants to be left alone", async () => {
    const attempt = new LimitedAttempt();
    expect(await attempt.run(refusal(429, { retryAfter: 3 }))).toBe(false);
    expect([attempt.wait, attempt.busy]).toEqual([3, false]);
    vi.advanceTimersByTime(2_000);
    expect(attempt.wait).toBe(1);
    vi.advanceTimersByTime(1_000);
    expect([attempt.wait, attempt.error]).toEqual([0, undefined]);
    vi.advanceTimersByTime(10_000);
    expect(attempt.wait).toBe(0);
  });

  it("tells fields what is theirs, and the rest below", async () => {
    const attempt = new LimitedAttempt();
    const issues = [{ path: "email", code: "taken", message: "is somebody's" }];
    await attempt.run(refusal(400, { issues }));
    expect([attempt.of("email"), attempt.rest]).toEqual(["is somebody's", undefined]);
    await attempt.run(refusal(400, { issues: [...issues, { ...issues[0], path: "" }] as never }));
    expect(attempt.rest?.status).toBe(400);
    expect(await attempt.run(() => Promise.resolve())).toBe(true);
    expect(attempt.error).toBeUndefined();
  });
});
