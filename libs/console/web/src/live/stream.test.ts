import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from "vitest";

import { type Handlers, Stream } from "./stream";

/** A connection that a test opens, feeds and breaks. */
class Source {
  onopen = () => {};
  onerror = () => {};
  closed = false;
  heard = new Map<string, (event: { data: string; lastEventId: string }) => void>();
  constructor(readonly lastEventId: string) {}
  addEventListener(type: string, hear: (event: { data: string; lastEventId: string }) => void) {
    this.heard.set(type, hear);
  }
  close() {
    this.closed = true;
  }
}

let sources: Source[];
let handlers: { [K in keyof Handlers]: Mock<Handlers[K]> };
let page: { hidden: boolean; show: () => void };
let stream: Stream;

const last = () => sources.at(-1) as Source;

beforeEach(() => {
  vi.useFakeTimers();
  sources = [];
  page = { hidden: false, show: () => {} };
  vi.stubGlobal("addEventListener", vi.fn());
  vi.stubGlobal("removeEventListener", vi.fn());
  vi.stubGlobal("document", {
    get hidden() {
      return page.hidden;
    },
    addEventListener: (_: string, show: () => void) => (page.show = show),
    removeEventListener: vi.fn(),
  });
  vi.stubGlobal("navigator", {});
  handlers = {
    event: vi.fn(),
    state: vi.fn(),
    opened: vi.fn(),
    goesOn: vi.fn(async () => true),
  };
  const open = (lastEventId: string) => {
    sources.push(new Source(lastEventId));
    return last() as unknown as EventSource;
  };
  stream = new Stream(open, handlers);
});

afterEach(() => {
  stream.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("stream", () => {
  it("resumes after the last event, later and later, and says each time that it is open", async () => {
    last().onopen();
    expect(handlers.state).toHaveBeenLastCalledWith("live");
    expect(handlers.opened).toHaveBeenCalledOnce();
    last().heard.get("message.deleted")?.({ data: '{"ids":["1"]}', lastEventId: "7" });
    expect(handlers.event).toHaveBeenCalledWith({
      type: "message.deleted",
      ids: ["1"],
      all: false,
    });
    for (let tries = 0; tries < 10; tries++) {
      const failed = last();
      failed.onerror();
      expect(handlers.state).toHaveBeenLastCalledWith("waiting");
      for (let second = 0; second < 36 && last() === failed; second++) {
        await vi.advanceTimersByTimeAsync(1_000);
      }
    }
    // One connection for each pause, and none beside it.
    expect(sources).toHaveLength(11);
    expect(sources.filter((source) => !source.closed)).toEqual([last()]);
    expect(last().lastEventId).toBe("7");
    last().onopen();
    expect(handlers.opened).toHaveBeenCalledTimes(2);
  });

  it("ends where it is not worth trying again", async () => {
    handlers.goesOn.mockResolvedValue(false);
    last().onerror();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(sources).toHaveLength(1);
    expect(handlers.state).toHaveBeenLastCalledWith("closed");
  });

  it("gives up its connection a minute after hiding, and has one again when shown", async () => {
    last().onopen();
    page.hidden = true;
    page.show();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(last().closed).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(last().closed).toBe(true);
    page.hidden = false;
    page.show();
    expect(sources).toHaveLength(2);
  });

  it("keeps its connection while hidden where there is a place, and leaves that when shown", async () => {
    const held = new Set<string>();
    const request = async (name: string, _: unknown, run: (lock: unknown) => unknown) => {
      if (held.has(name)) return run(null);
      held.add(name);
      await run({ name });
      held.delete(name);
    };
    vi.stubGlobal("navigator", { locks: { request } });
    const hide = async (hidden: boolean) => {
      page.hidden = hidden;
      page.show();
      await vi.advanceTimersByTimeAsync(61_000);
    };
    last().onopen();
    await hide(true);
    expect([last().closed, held.size, sources.length]).toEqual([false, 1, 1]);
    await hide(false);
    expect([last().closed, held.size, sources.length]).toEqual([false, 0, 1]);
    for (const name of ["trapline-stream-1", "trapline-stream-2"]) held.add(name);
    await hide(true);
    expect([last().closed, held.size]).toEqual([true, 2]);
  });

  it("stays without a connection when it gave way while it asked whether to go on", async () => {
    let answer: (goesOn: boolean) => void = () => {};
    handlers.goesOn.mockReturnValue(new Promise((done) => (answer = done)));
    last().onerror();
    page.hidden = true;
    page.show();
    await vi.advanceTimersByTimeAsync(61_000);
    answer(true);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(sources.map((source) => source.closed)).toEqual([true]);
    page.hidden = false;
    page.show();
    expect(sources).toHaveLength(2);
  });

  it("gives up a connection that does not open", async () => {
    await vi.advanceTimersByTimeAsync(14_000);
    expect(last().closed).toBe(false);
    await vi.advanceTimersByTimeAsync(3_000);
    expect([sources[0]?.closed, sources.length]).toEqual([true, 2]);
    last().onopen();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([last().closed, sources.length]).toEqual([false, 2]);
  });

  it("begins anew after a sleep", async () => {
    last().onopen();
    vi.setSystemTime(Date.now() + 3_600_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sources).toHaveLength(2);
    expect(sources[0]?.closed).toBe(true);
  });
});
