import { describe, expect, it } from "vitest";

import { nameOf } from "./keymap";

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
});
