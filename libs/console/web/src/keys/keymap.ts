/** Keys of one screen. */
export interface Binding {
  /** Names as `nameOf` gives them. */
  keys: string[];
  /** What they do, for the help. */
  label: string;
  run: (event: KeyboardEvent) => void;
}

const FIELDS = new Set(["INPUT", "TEXTAREA", "SELECT"]);

/** The name of a pressed key: `j`, `#`, `Shift+A`, `Escape`. None where it is not for us: with another
 * modifier, or while characters are composed. */
export function nameOf(event: KeyboardEvent): string | undefined {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const letter = /^[a-z]$/i.test(event.key);
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
