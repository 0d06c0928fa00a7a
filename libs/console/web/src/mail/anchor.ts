/** What an anchor needs of a list. */
export interface Places {
  at(index: number): { id: string } | undefined;
  indexOf(id: string): number;
}

/** The rows that somebody looks at, so that they can be kept where they are while others come and go. */
export class Anchor {
  /** Where the pointer is, in pixels below the upper edge. */
  pointer: number | undefined;
  #list: Places | undefined;
  /** Those that were in view, at their places. */
  #held: { id: string; index: number }[] = [];

  /** Scrolls by as many rows as moved, unless the newest one is in view. */
  keep(view: HTMLElement, list: Places, rowHeight: number): void {
    if (view.scrollTop < rowHeight / 2) return;
    const focus = place(view, rowHeight, this.pointer ?? view.clientHeight / 2);
    view.scrollTop += this.moved(list, focus) * rowHeight;
  }

  /** Holds the rows that are in view. */
  look(view: HTMLElement, list: Places, rowHeight: number): void {
    this.hold(list, place(view, rowHeight, 0), place(view, rowHeight, view.clientHeight));
  }

  /** Holds the rows from `from` to `to`. */
  hold(list: Places, from: number, to: number): void {
    this.#list = list;
    this.#held = [];
    for (let index = from; index <= to; index++) {
      const row = list.at(index);
      if (row) this.#held.push({ id: row.id, index });
    }
  }

  /** By how many rows the one moved that was next to the place `focus`, of those that are still there. */
  moved(list: Places, focus: number): number {
    if (list !== this.#list) return 0;
    const distance = ({ index }: { index: number }) => Math.abs(index - focus);
    for (const { id, index } of this.#held.toSorted((a, b) => distance(a) - distance(b))) {
      const now = list.indexOf(id);
      if (now >= 0) return now - index;
    }
    return 0;
  }
}

/** Which row is so many pixels below the upper edge. */
function place(view: HTMLElement, rowHeight: number, pixels: number): number {
  return Math.floor((view.scrollTop + pixels) / rowHeight);
}
