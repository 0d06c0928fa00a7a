/** Keys of one screen. */
export interface Binding {
  /** Names as `nameOf` gives them; of two keys one after the other, with a space: `g i`. */
  keys: string[];
  /** What they do, for the help and the palette. */
  label: string;
  run: (event: KeyboardEvent) => void;
  /** A selector of what the focus must be in; else it may be anywhere but in a field. */
  within?: string;
  /** Whether they work in fields, too. */
  everywhere?: boolean;
}

const FIELDS = new Set(["INPUT", "TEXTAREA", "SELECT"]);
/** Letters that mean something here together with Ctrl or ⌘. */
const WITH_MODIFIER = /^[ak]$/i;
/** Milliseconds between two keys that belong together. */
const PAIR = 1_500;

/** The name of a pressed key: `j`, `#`, `Shift+A`, `Mod+K`, `Escape`. None where it is not for us: with
 * another modifier, or while characters are composed. */
export function nameOf(event: KeyboardEvent): string | undefined {
  if (event.isComposing || event.altKey) return undefined;
  const letter = /^[a-z]$/i.test(event.key);
  if (event.ctrlKey || event.metaKey) {
    const ours = event.ctrlKey !== event.metaKey && !event.shiftKey;
    return ours && WITH_MODIFIER.test(event.key) ? `Mod+${event.key.toUpperCase()}` : undefined;
  }
  if (event.shiftKey && letter) return `Shift+${event.key.toUpperCase()}`;
  return letter ? event.key.toLowerCase() : event.key;
}

/** Whether a key belongs to what has the focus, because one types there. */
export function isTyped(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  if (target?.isContentEditable) return true;
  if (
    target?.tagName === "INPUT" &&
    /^(checkbox|radio|button)$/.test(target.getAttribute("type") ?? "")
  )
    return false;
  return target !== null && FIELDS.has(target.tagName);
}

/** The keys of a pair, of which the first decides nothing yet. */
export class Pairs {
  #first: { name: string; at: number } | undefined;

  /** The name of a key together with the one before it, where the two belong together. */
  name(name: string, at: number, bindings: Binding[]): string {
    const pair = this.#first && at - this.#first.at < PAIR ? `${this.#first.name} ${name}` : "";
    const keys = bindings.flatMap((binding) => binding.keys);
    const begins = keys.some((key) => key.startsWith(`${name} `));
    this.#first = begins && !keys.includes(pair) ? { name, at } : undefined;
    return keys.includes(pair) ? pair : name;
  }
}

/** A key as it is written on the keyboard at hand. */
export function written(key: string): string {
  const isMac = /^(mac|iphone|ipad)/i.test(navigator.platform);
  return key.replace("Mod+", isMac ? "⌘" : "Ctrl+");
}
