import { describe, expect, it } from "vitest";

import { pretty } from "./bodies";
import { clockOf, kindOf, typedTime } from "./clock";
import { curl } from "./curl";
import { groups } from "./gallery";
import type { Call, Provider } from "./mocks.svelte";
import { changed, latency, numberOf, patched, reset } from "./scenarios";
import { statesAfter } from "./steps";

describe("scenarios of a mock", () => {
  it("are changed by a patch of what was touched, and nothing else", () => {
    let patch = changed({}, ["decline"], "lost_card");
    patch = changed(patch, ["webhooks", "delayMs"], 50);
    patch = changed(patch, ["webhooks", "enabled"], false);
    expect(patch).toEqual({ decline: "lost_card", webhooks: { delayMs: 50, enabled: false } });
    const settings = {
      seed: 1,
      decline: null,
      webhooks: { delayMs: 0, enabled: true, jitterMs: 7 },
    };
    expect(patched(settings, patch)).toEqual({
      seed: 1,
      decline: "lost_card",
      webhooks: { delayMs: 50, enabled: false, jitterMs: 7 },
    });
    expect(patched({ next: [1, 2] }, { next: [3] })).toEqual({ next: [3] });
    expect(reset(settings)).toEqual({ seed: null, decline: null, webhooks: null });
  });

  it("have numbers, or the default where nothing was typed", () => {
    expect([numberOf(""), numberOf(null), numberOf("0.5"), numberOf(3)]).toEqual([
      null,
      null,
      0.5,
      3,
    ]);
    expect(latency(null, null)).toBeNull();
    expect([latency(5, null), latency(5, 5), latency(null, 5)]).toEqual([5, 5, { min: 0, max: 5 }]);
  });
});

describe("the clock of a mock", () => {
  it("goes one of three ways", () => {
    for (const kind of ["now", "at", "offset"]) expect(kindOf(clockOf(kind))).toBe(kind);
    expect(clockOf("at", new Date("2026-01-31T09:30:00.5Z"))).toEqual({
      at: "2026-01-31T09:30:00Z",
    });
  });

  it("takes a time as the browser's field writes it", () => {
    expect(typedTime("2026-01-31T09:30")).toBe("2026-01-31T09:30:00Z");
    expect(typedTime("2026-01-31T09:30:05")).toBe("2026-01-31T09:30:05Z");
  });
});

describe("providers", () => {
  const of = (id: string, category: string) => ({ id, name: id, category }) as Provider;
  const all = [of("stripe", "payments"), of("hubspot", "crm"), of("adyen", "payments")];

  it("stand under their categories, and are found by either", () => {
    const shown = (words: string) =>
      groups(all, words).map(({ category, providers }) => [category, providers.length]);
    expect(shown("")).toEqual([
      ["payments", 2],
      ["crm", 1],
    ]);
    expect(shown("PAY adyen")).toEqual([["payments", 1]]);
    expect(shown("nobody")).toEqual([]);
  });
});

describe("a body", () => {
  it("is JSON by lines, a form by fields, or what it is", () => {
    expect(pretty('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(pretty("email=a%40b.test&name=O%27Neill+1")).toBe("email=a@b.test\nname=O'Neill 1");
    for (const body of ["<a b='c'/>", "plain words", "x = 1"]) expect(pretty(body)).toBe(body);
  });
});

describe("a call as curl", () => {
  it("has what was sent, for a shell, and not what curl makes by itself", () => {
    const call = {
      method: "POST",
      path: "/v1/customers",
      query: "a=1&b=2",
      request: {
        headers: [
          { name: "host", value: "127.0.0.1" },
          { name: "content-type", value: "application/json" },
        ],
        body: '{"name": "O\'Neill $(rm)"}',
        encoding: "utf8",
      },
    } as Call;
    expect(curl("http://127.0.0.1/mock/1", call)).toBe(
      [
        "curl -X POST 'http://127.0.0.1/mock/1/v1/customers?a=1&b=2'",
        "-H 'content-type: application/json'",
        `--data-raw '{"name": "O'\\''Neill $(rm)"}'`,
      ].join(" \\\n  "),
    );
  });
});

describe("an object", () => {
  const steps = [
    { kind: "sessions", from: "open", to: "complete" },
    { kind: "sessions", from: "open", to: "expired" },
    { kind: "refunds", from: "open", to: "failed" },
  ];

  it("goes where steps of its kind lead from its state, the usual one first", () => {
    expect(statesAfter(steps, { kind: "sessions", state: "open" })).toEqual([
      "complete",
      "expired",
    ]);
    for (const state of ["complete", null]) {
      expect(statesAfter(steps, { kind: "sessions", state })).toEqual([]);
    }
  });
});
