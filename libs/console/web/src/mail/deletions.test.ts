import { beforeEach, describe, expect, it, type Mock, vi } from "vitest";

import { ApiError } from "../api/error";
import { held } from "../ui/held";
import { toasts } from "../ui/toasts.svelte";
import { deleteMany, MANY } from "./bulk";
import { Deletions } from "./deletions.svelte";

vi.mock("./bulk", async (original) => ({ ...(await original()), deleteMany: vi.fn() }));

const request = deleteMany as unknown as Mock;
let gone: Mock<(ids: string[]) => void>;
let deletions: Deletions;

beforeEach(() => {
  request.mockReset();
  request.mockResolvedValue({});
  toasts.all = [];
  gone = vi.fn();
  deletions = new Deletions("inbox", gone);
});

describe("deletions", () => {
  it("hide messages until the server has deleted them", async () => {
    deletions.add(["1", "2"]);
    deletions.add(["2"]);
    expect([...deletions.hidden]).toEqual(["1", "2"]);
    expect(request).not.toHaveBeenCalled();
    expect(toasts.all).toHaveLength(1);
    await held.flush();
    expect(toasts.all).toHaveLength(0);
    expect(request).toHaveBeenCalledExactlyOnceWith("inbox", ["1", "2"], false);
    expect(gone.mock.calls.flat(2)).toEqual(["1", "2"]);
    expect(deletions.hidden.size).toBe(0);
  });

  it("are undone by the key and by the toast, which ends with them", async () => {
    deletions.add(["1"]);
    expect(held.undo()).toBe(true);
    expect(deletions.hidden.size).toBe(0);
    expect(toasts.all.map((toast) => toast.undo)).toEqual([undefined]);
    deletions.add(["1"]);
    toasts.all.at(-1)?.undo?.();
    expect(deletions.hidden.size).toBe(0);
    await held.flush();
    expect(request).not.toHaveBeenCalled();
  });

  it("bring a message back that could not be deleted, and say why", async () => {
    request.mockRejectedValue(ApiError.offline());
    deletions.add(["1"]);
    await held.flush();
    expect(deletions.hidden.size).toBe(0);
    expect(gone).not.toHaveBeenCalled();
    expect(toasts.all.at(-1)?.text).toContain("The server cannot be reached.");
  });

  it("go as many at once as a request takes, and bring back only those that failed", async () => {
    const ids = Array.from({ length: MANY + 1 }, (_, at) => String(at));
    request.mockRejectedValueOnce(ApiError.offline());
    deletions.add(ids);
    await held.flush();
    expect(request.mock.calls.map(([, some]) => some.length)).toEqual([MANY, 1]);
    expect(gone).toHaveBeenCalledExactlyOnceWith([String(MANY)]);
    expect(deletions.hidden.size).toBe(0);
  });

  it("outlive the page, all at once", () => {
    deletions.add(Array.from({ length: 2 * MANY }, (_, at) => String(at)));
    held.leave();
    expect(request.mock.calls.map(([, , keepalive]) => keepalive)).toEqual([true, true]);
  });
});
