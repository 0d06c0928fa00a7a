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

  show(text: string, undo?: () => void): void {
    const toast = { id: this.#next++, text, undo };
    this.all = [...this.all.slice(-2), toast];
    this.#leaveLater(toast.id);
  }

  leave(id: number): void {
    this.all = this.all.filter((toast) => toast.id !== id);
  }

  #leaveLater(id: number): void {
    setTimeout(() => (this.held ? this.#leaveLater(id) : this.leave(id)), STAYS);
  }
}

export const toasts = new Toasts();
