import { readdirSync, readFileSync } from "node:fs";

import { parse } from "svelte/compiler";
import { afterEach, describe, expect, it, vi } from "vitest";

import { inLanguage, pseudo } from "./language";

const SOURCES = new URL("..", import.meta.url);
/** Names of formats, which are the same in all languages. */
const NAMES = new Set(["SHA-256", "(.eml)"]);
/** Attributes that people read or hear. */
const READ = new Set(["aria-label", "alt", "label", "title"]);

interface Node {
  type?: string;
  name?: string;
  data?: string;
}

/** What of a component's markup is words, and in no table of texts. */
function words(source: string): string[] {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { type, name = "", data = "" } = node as Node;
    if (type === "StyleDirective" || (type === "Attribute" && !READ.has(name))) return;
    const text = data.trim();
    if (type === "Text" && /[a-z]{2}/i.test(text) && !NAMES.has(text)) found.push(text);
    for (const part of Object.values(node)) visit(part);
  };
  visit(parse(source, { modern: true }).fragment);
  return found;
}

describe("texts", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("of all components are in the tables", () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
    const components = files.filter((file) => file.endsWith(".svelte") && !/^gallery/.test(file));
    expect(components.length).toBeGreaterThan(100);
    const found = components.flatMap((file) =>
      words(readFileSync(new URL(file, SOURCES), "utf8")).map((words) => `${file}: ${words}`),
    );
    expect(found).toEqual([]);
    expect(words('<p class="plain" title="A title">A text</p>')).toEqual(["A title", "A text"]);
  });

  it("are longer and accented in the pseudo-language, which only a browser that wants it has", () => {
    const table = { one: "Cancel", of: (name: string) => `To ${name}`, below: { two: "Zones" } };
    expect(inLanguage(table)).toBe(table);
    vi.stubGlobal("localStorage", { getItem: () => "pseudo" });
    const translated = inLanguage(table);
    expect(translated.one).toBe("Çáñçél ~~~");
    expect(translated.of("me")).toBe("Tó mé ~~");
    expect(translated.below.two).toBe(pseudo("Zones"));
  });
});
