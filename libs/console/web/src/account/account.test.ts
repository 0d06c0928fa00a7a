import { describe, expect, it } from "vitest";

import { relative, shortTime } from "../lib/format";
import { chosenOf } from "../lib/preferences.svelte";
import { browserOf } from "./agents";

describe("the account's screens", () => {
  it("name a browser by its own words", () => {
    const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0 Safari/537.36";
    const cases: [string, string][] = [
      [chrome, "Chrome, Linux"],
      [`${chrome} Edg/142.0`, "Edge, Linux"],
      ["Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Windows"],
      ["curl/8.5.0", "curl/8.5.0"],
      ["", ""],
    ];
    for (const [agent, name] of cases) expect(browserOf(agent)).toBe(name);
  });

  it("take from the storage only what is a choice", () => {
    const list = { density: "comfortable", layout: "panes" };
    const first = { ...list, zone: "local", times: "absolute", read: "second", keys: "on" };
    for (const stored of [null, "", "null", "{", "[]", '{"zone":"mars","x":1}', '{"keys":true}']) {
      expect(chosenOf(stored), String(stored)).toEqual(first);
    }
    expect(chosenOf('{"zone":"utc","keys":"off"}')).toEqual({ ...first, zone: "utc", keys: "off" });
  });

  it("say how long ago something was", () => {
    const cases: [number, RegExp][] = [
      [-5_000, /^now$/],
      [-60_000, /^1\D+ago$/],
      [-3_599_000, /^59\D+ago$/],
      [-2 * 86_400_000, /^2\D+ago$/],
      [3_700_000, /^in 1\D+$/],
    ];
    for (const [span, words] of cases) expect(relative(span)).toMatch(words);
    expect(shortTime("2026-11-29T12:00:00Z", Date.parse("2025-01-01"))).toMatch(/29/);
  });
});
