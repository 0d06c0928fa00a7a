import { describe, expect, it } from "vitest";

import { type Binding, nameOf, Pairs } from "./keymap";

function press(key: string, more: Partial<KeyboardEvent> = {}): string | undefined {
  const plain = { isComposing: false, ctrlKey: false, metaKey: false, altKey: false };
  return nameOf({ key, shiftKey: false, ...plain, ...more } as KeyboardEvent);
}

describe("keys", () => {
  it("names letters with and without Shift, whatever the lock says", () => {
    expect(press("j")).toBe("j");
    expect(press("J")).toBe("j");
    expect(press("I", { shiftKey: true })).toBe("Shift+I");
    expect(press("#", { shiftKey: true })).toBe("#");
    expect(press("Escape")).toBe("Escape");
  });

  it("leaves the browser's and the system's keys alone", () => {
    expect(press("c", { ctrlKey: true })).toBeUndefined();
    expect(press("c", { metaKey: true })).toBeUndefined();
    expect(press("j", { altKey: true })).toBeUndefined();
    expect(press("j", { isComposing: true })).toBeUndefined();
  });

  it("have Ctrl and ⌘ as one", () => {
    expect(press("k", { ctrlKey: true })).toBe("Mod+K");
    expect(press("A", { metaKey: true })).toBe("Mod+A");
    expect(press("k", { ctrlKey: true, metaKey: true })).toBeUndefined();
    expect(press("k", { ctrlKey: true, shiftKey: true })).toBeUndefined();
  });

  it("come in pairs, which time and other keys part", () => {
    const bindings = [{ keys: ["g i"] }, { keys: ["i"] }] as Binding[];
    const pairs = new Pairs();
    const press = (name: string, at: number) => pairs.name(name, at, bindings);
    expect([press("g", 0), press("i", 100)]).toEqual(["g", "g i"]);
    expect(press("i", 200)).toBe("i");
    expect([press("g", 1_000), press("i", 2_500)]).toEqual(["g", "i"]);
    expect([press("g", 3_000), press("j", 3_100), press("i", 3_200)]).toEqual(["g", "j", "i"]);
    expect([press("g", 4_000), press("g", 4_100), press("i", 4_200)]).toEqual(["g", "g", "g i"]);
  });
});
