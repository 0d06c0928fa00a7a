import { untrack } from "svelte";

import { preferences } from "../lib/preferences.svelte";
import { type Binding, isTyped, nameOf } from "./keymap";

/** The keys that work now. */
class Keys {
  #layers = $state.raw<Binding[][]>([]);

  /** All that work, for the help. */
  readonly all = $derived(this.#layers.flat());

  /** Listens; call once. */
  start(): void {
    addEventListener("keydown", (event) => this.#press(event));
  }

  /** Adds keys, and returns what takes them away. */
  add(bindings: Binding[]): () => void {
    // Effects add keys, and do not depend on those of others.
    untrack(() => (this.#layers = [...this.#layers, bindings]));
    return () => (this.#layers = this.#layers.filter((layer) => layer !== bindings));
  }

  #press(event: KeyboardEvent): void {
    // Whoever speaks to the machine, or whose hands slip, can switch them off (WCAG 2.2, 2.1.4).
    if (preferences.get("keys") === "off") return;
    if (event.defaultPrevented || isTyped(event) || document.querySelector("dialog[open]")) return;
    const name = nameOf(event);
    const found = this.all.findLast((binding) => name !== undefined && binding.keys.includes(name));
    // A button or a link in focus keeps its Enter.
    const pressed =
      event.key === "Enter" && (event.target as Element).closest("a, button, summary");
    if (!found || pressed) return;
    event.preventDefault();
    found.run(event);
  }
}

export const keys = new Keys();
