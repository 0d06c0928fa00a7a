import { describe, expect, it } from "vitest";

import { size, visible, wait } from "./format";
import { opens, parts } from "./links";
import { objectOf } from "./objects";

describe("format", () => {
  it("has sizes for people", () => {
    const cases: [number, string][] = [
      [0, "0 B"],
      [999, "999 B"],
      [1_000, "1.0 kB"],
      [999_499, "999 kB"],
      [999_999, "1.0 MB"],
      [26_214_400, "26 MB"],
    ];
    for (const [bytes, text] of cases) expect(size(bytes)).toBe(text);
  });

  it("has times to wait", () => {
    const cases: [number, string][] = [
      [-5, "0 s"],
      [27_001, "28 s"],
      [59_001, "1 min 0 s"],
      [245_000, "4 min 5 s"],
      [14_399_000, "3 h 59 min"],
    ];
    for (const [milliseconds, text] of cases) expect(wait(milliseconds)).toBe(text);
  });

  it("shows what hides or turns around a name", () => {
    expect(visible("invoice\u202Efdp.exe")).toBe("invoice⟨U+202E⟩fdp.exe");
    expect(visible("a\u0000b\u200bc")).toBe("a⟨U+0000⟩b⟨U+200B⟩c");
    expect(visible("Łukasz 李 אבג")).toBe("Łukasz 李 אבג");
  });
});

describe("links", () => {
  it("opens nothing that could run or reads files", () => {
    for (const url of ["https://a.test/x", "http://a.test", "mailto:a@b.test", "tel:+1"]) {
      expect(opens(url), url).toBe(true);
    }
    const never = ["javascript:alert(1)", " JaVaScript:alert(1)", "data:text/html,x", "vbscript:x"];
    for (const url of [...never, "blob:x", "file:///etc/passwd", "myapp://x", "/relative", ""]) {
      expect(opens(url), url).toBe(false);
    }
  });

  it("finds the host, not what looks like it", () => {
    expect(parts("https://a.test@evil.test/a.test")).toEqual([
      "https://a.test@",
      "evil.test",
      "/a.test",
    ]);
    expect(parts("nothing")).toEqual(["nothing", "", ""]);
  });
});

describe("JSON that somebody typed", () => {
  it("is taken only where it is an object", () => {
    expect(objectOf(' {"plan": "pro"} ')).toEqual({ plan: "pro" });
    expect(objectOf(" ")).toEqual({});
    for (const typed of ["{", "[]", "null", "1", '"a"']) expect(objectOf(typed)).toBeUndefined();
  });
});
