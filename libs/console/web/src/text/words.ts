export const number = new Intl.NumberFormat("en");
const plurals = new Intl.PluralRules("en");
const list = new Intl.ListFormat("en");

/** A number with the form of a word that goes with it. */
export function count(value: number, one: string, other: string): string {
  return `${number.format(value)} ${plurals.select(value) === "one" ? one : other}`;
}

/** Some names: "a, b, and c". */
export function names(of: string[]): string {
  return list.format(of);
}
