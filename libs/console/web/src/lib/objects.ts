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
