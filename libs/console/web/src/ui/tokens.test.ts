import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./tokens.css", import.meta.url), "utf8");

/** The colours of a token: light and dark. */
function colours(token: string): [string, string] {
  const found = css.match(new RegExp(`--${token}: light-dark\\((#\\w+), (#\\w+)\\)`));
  if (!found?.[1] || !found[2]) throw new Error(`no token ${token}`);
  return [found[1], found[2]];
}

/** Relative luminance (WCAG 2.2). */
function luminance(colour: string): number {
  const part = (at: number) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

const GROUNDS = ["canvas", "surface", "hover", "selected"];
const TINTS = ["ok-bg", "warn-bg", "danger-bg", "info-bg"];

/** The least contrast of a token on each of some grounds, light and dark. */
const LEAST: [token: string, grounds: string[], least: number][] = [
  ["text", [...GROUNDS, ...TINTS], 10],
  ["muted", GROUNDS, 5.4],
  ["accent", GROUNDS, 5.4],
  ["on-accent", ["accent"], 6.5],
  ["ok", [...GROUNDS, "ok-bg"], 5.3],
  ["warn", [...GROUNDS, "warn-bg"], 5.3],
  ["danger", [...GROUNDS, "danger-bg"], 5.3],
  ["control", GROUNDS, 3],
];

describe("tokens", () => {
  it.each(LEAST)("%s can be read on its grounds", (token, grounds, least) => {
    for (const ground of grounds) {
      for (const theme of [0, 1] as const) {
        const found = contrast(colours(token)[theme], colours(ground)[theme]);
        expect(found, `${token} on ${ground}, ${["light", "dark"][theme]}`).toBeGreaterThan(least);
      }
    }
  });
});
