/** The lines of a field, without those on which nothing is. */
export function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** JSON that somebody typed: an object, which is empty where nothing was typed; undefined for anything else. */
export function objectOf(text: string): Record<string, never> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, never>) : undefined;
  } catch {
    return undefined;
  }
}
