import { MediaQuery } from "svelte/reactivity";

import { preferences } from "../lib/preferences.svelte";

/** Pixels of a row, whatever is in it: of three lines, of two, and of one in the full width. */
const HEIGHTS = { comfortable: 72, compact: 52, line: 36 } as const;

export type Form = keyof typeof HEIGHTS;

/** Rows of the list, as this browser's preferences have them. */
class Rows {
  // One line has no place for its columns on a phone.
  readonly #isWide = new MediaQuery("width >= 720px");

  /** Whether the list and the message each have the full width, one at a time. */
  get isFull(): boolean {
    return preferences.get("layout") === "full";
  }

  get form(): Form {
    return this.isFull && this.#isWide.current ? "line" : preferences.get("density");
  }

  get height(): number {
    return HEIGHTS[this.form];
  }
}

export const rows = new Rows();
