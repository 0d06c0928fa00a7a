/** Where a browser keeps that it wants the pseudo-language. */
const KEY = "trapline.language";
/** Letters that look like those of English, and are none. */
const LETTERS = new Map(
  [..."aceinouyzACEINOUYZ"].map((plain, at) => [plain, [..."áçéíñóúýžÁÇÉÍÑÓÚÝŽ"][at] ?? plain]),
);

/** English with accents and 40 % longer: what does not fit another language breaks in it, and a text that is in no
 * table stays as it was. */
export function pseudo(text: string): string {
  const accented = [...text].map((letter) => LETTERS.get(letter) ?? letter).join("");
  const more = "~".repeat(Math.ceil(text.length * 0.4));
  return [accented, ...(more.match(/.{1,8}/g) ?? [])].join(" ");
}

/** The texts of a table, or the same in the pseudo-language where the browser wants that. */
export function inLanguage<T extends object>(table: T): T {
  const isPseudo = typeof localStorage !== "undefined" && localStorage.getItem(KEY) === "pseudo";
  return isPseudo ? (translated(table) as T) : table;
}

function translated(value: unknown): unknown {
  if (typeof value === "string") return pseudo(value);
  if (typeof value === "function") return (...of: unknown[]) => translated(value(...of));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, translated(part)]));
}
