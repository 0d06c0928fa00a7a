import { untrack } from "svelte";

import { preferences } from "../lib/preferences.svelte";
import { type Binding, isTyped, nameOf, Pairs } from "./keymap";

/** The keys that work now. */
class Keys {
  #layers = $state.raw<Binding[][]>([]);
  #pairs = new Pairs();
  /** What was typed for something that is being fetched. */
  #typed: string | undefined;

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

  /** Keeps what is typed from the page, for a field that is yet to come; returns what ends that, and tells
   * what was typed. */
  collect(): () => string {
    this.#typed = "";
    return () => {
      const typed = this.#typed ?? "";
      this.#typed = undefined;
      return typed;
    };
  }

  #press(event: KeyboardEvent): void {
    if (this.#typed !== undefined) {
      this.#type(event);
      return;
    }
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

  #type(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.key.length === 1) this.#typed += event.key;
    else if (event.key === "Backspace") this.#typed = this.#typed?.slice(0, -1);
  }
}

export const keys = new Keys();
