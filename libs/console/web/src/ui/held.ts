import { toasts } from "./toasts.svelte";

/** Milliseconds in which a change can be undone. */
export const UNDO = 5_000;

/** A change that is shown at once, and made when it is too late to undo it. */
export interface Change {
  /** Makes it, and does not fail; `leaving` says that the page is left and the request must outlive it. */
  make: (leaving: boolean) => Promise<void>;
  undo: () => void;
}

/** Changes that wait, and those that are being made. */
export class Held {
  #waiting = new Map<Change, ReturnType<typeof setTimeout>>();
  #making = new Set<Promise<void>>();
  readonly #isPaused: () => boolean;

  /** While `isPaused`, nobody's time for undoing ends: somebody is about to press the button. */
  constructor(isPaused: () => boolean = () => false) {
    this.#isPaused = isPaused;
  }

  add(change: Change): void {
    this.#waiting.set(
      change,
      setTimeout(() => this.#due(change), UNDO),
    );
  }

  /** Undoes a change, or the latest one; whether it was not too late. */
  undo(change = [...this.#waiting.keys()].at(-1)): boolean {
    if (!change || !this.#take(change)) return false;
    change.undo();
    return true;
  }

  /** Makes all at once, and waits until they are made. */
  async flush(): Promise<void> {
    for (const change of [...this.#waiting.keys()]) this.#make(change, false);
    await Promise.all(this.#making);
  }

  /** Makes all at once, as the page is being left. */
  leave(): void {
    for (const change of [...this.#waiting.keys()]) this.#make(change, true);
  }

  #due(change: Change): void {
    if (this.#isPaused() && this.#waiting.has(change)) this.add(change);
    else this.#make(change, false);
  }

  #make(change: Change, leaving: boolean): void {
    if (!this.#take(change)) return;
    const made = change.make(leaving).finally(() => this.#making.delete(made));
    this.#making.add(made);
  }

  #take(change: Change): boolean {
    clearTimeout(this.#waiting.get(change));
    return this.#waiting.delete(change);
  }
}

export const held = new Held(() => toasts.held);
