/** The mail addresses, or other words, in what somebody typed or pasted: each once, in order. */
export function words(typed: string): string[] {
  const parts = typed.split(/[\s,;]+/).map((part) => part.replace(/^<|>$/g, ""));
  return [...new Set(parts.filter((part) => part !== ""))];
}
