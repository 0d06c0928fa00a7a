/** Many things done one after the other, with how far it is; it can be stopped between two. */
export class Batch {
  done = $state(0);
  total = $state(0);
  running = $state(false);
  #stopped = false;

  /** Does `act` for each; what fails ends it, and is thrown. */
  async run<T>(items: T[], act: (item: T) => Promise<void>): Promise<void> {
    this.#stopped = false;
    [this.done, this.total, this.running] = [0, items.length, true];
    try {
      for (const item of items) {
        if (this.#stopped) return;
        await act(item);
        this.done++;
      }
    } finally {
      this.running = false;
    }
  }

  stop(): void {
    this.#stopped = true;
  }
}
