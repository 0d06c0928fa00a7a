/** Milliseconds for which a toast is there. */
const STAYS = 5_000;

export interface Toast {
  id: number;
  text: string;
  undo?: (() => void) | undefined;
}

/** What may be missed: something was copied, something can be undone. */
class Toasts {
  all = $state.raw<Toast[]>([]);
  /** While somebody points at them, they stay. */
  held = $state(false);
  #next = 0;

  /** Shows a text; the toast's id. One with `undo` stays until it is told to leave: when that is too late. */
  show(text: string, undo?: () => void): number {
    const toast = { id: this.#next++, text, undo };
    this.all = [...this.all.slice(-2), toast];
    if (!undo) this.#leaveLater(toast.id);
    return toast.id;
  }

  leave(id: number): void {
    this.all = this.all.filter((toast) => toast.id !== id);
    // What goes with the last one tells nobody that it is no longer pointed at.
    if (this.all.length === 0) this.held = false;
  }

  #leaveLater(id: number): void {
    setTimeout(() => (this.held ? this.#leaveLater(id) : this.leave(id)), STAYS);
  }
}

export const toasts = new Toasts();
