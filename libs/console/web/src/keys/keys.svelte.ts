import { untrack } from "svelte";

import { preferences } from "../lib/preferences.svelte";
import { type Binding, isTyped, nameOf, Pairs } from "./keymap";

/** The keys that work now. */
class Keys {
  #layers = $state.raw<Binding[][]>([]);
  #pairs = new Pairs();

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
    const key = nameOf(event);
    if (event.defaultPrevented || !key || document.querySelector("dialog[open]")) return;
    const target = event.target as Element;
    // Whoever speaks to the machine, or whose hands slip, can switch them off (WCAG 2.2, 2.1.4).
    const areOn = preferences.get("keys") !== "off" && !isTyped(event);
    const isHere = ({ within, everywhere }: Binding) =>
      (everywhere || areOn) && (!within || target.closest(within) !== null);
    const bindings = this.all.filter(isHere);
    const name = this.#pairs.name(key, event.timeStamp, bindings);
    const found = bindings.findLast((binding) => binding.keys.includes(name));
    // A button or a link in focus keeps its Enter.
    const pressed = event.key === "Enter" && target.closest("a, button, summary");
    if (!found || pressed) return;
    event.preventDefault();
    found.run(event);
  }
}

export const keys = new Keys();
