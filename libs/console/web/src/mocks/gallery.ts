import type { Provider } from "./mocks.svelte";

interface Group {
  category: string;
  providers: Provider[];
}

/** The providers whose name or category has each of some words, by their categories in the order of the table. */
export function groups(providers: Provider[], words: string): Group[] {
  const wanted = words.toLowerCase().split(/\s+/);
  const found = new Map<string, Provider[]>();
  for (const provider of providers) {
    const shown = `${provider.id} ${provider.name} ${provider.category}`.toLowerCase();
    if (!wanted.every((word) => shown.includes(word))) continue;
    found.set(provider.category, [...(found.get(provider.category) ?? []), provider]);
  }
  return [...found].map(([category, providers]) => ({ category, providers }));
}
