/** Milliseconds after the last arrival until the newest message is opened. */
const AFTER = 250;

/** Whether this tab opens what arrives by itself. It pauses as soon as somebody does something else. */
export class Follow {
  state = $state<"off" | "on" | "paused">("off");
  /** What was opened by it last. */
  #opened: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** On, off, or on again after a pause. */
  toggle(): void {
    clearTimeout(this.#timer);
    this.#opened = undefined;
    this.state = this.state === "on" ? "off" : "on";
  }

  pause(): void {
    clearTimeout(this.#timer);
    if (this.state === "on") this.state = "paused";
  }

  /** Tells which message is the newest; it is opened once nothing newer came for a moment. */
  newest(id: string | undefined, open: (id: string) => void): void {
    clearTimeout(this.#timer);
    if (this.state !== "on" || id === undefined || id === this.#opened) return;
    this.#timer = setTimeout(() => {
      this.#opened = id;
      open(id);
    }, AFTER);
  }

  /** Tells which message is open. Another than the one that was opened here, somebody chose. */
  shown(id: string | null): void {
    if (this.#opened !== undefined && id !== this.#opened) this.pause();
  }

  /** Forgets the inbox that is left. */
  leave(): void {
    clearTimeout(this.#timer);
    this.#opened = undefined;
  }
}

export const follow = new Follow();
