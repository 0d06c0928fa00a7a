/** What a list needs to know of its rows. */
export interface Item {
  id: string;
  receivedAt: string;
}

/** Rows that are fetched together. */
export const WINDOW = 100;

/** A list of which only some rows are there: those of the windows that were fetched. Newest first. */
export class Slots<T extends Item> {
  #rows: (T | undefined)[] = [];
  /** Ids of rows that may have changed unseen. */
  #doubted = new Set<string>();

  get total(): number {
    return this.#rows.length;
  }

  at(index: number): T | undefined {
    return this.#rows[index];
  }

  indexOf(id: string): number {
    return this.#rows.findIndex((row) => row?.id === id);
  }

  get(id: string): T | undefined {
    return this.#rows.find((row) => row?.id === id);
  }

  /** Lays an answer of the API: these rows from `offset` on, of a list of `total`. What it contradicts is
   * forgotten, to be fetched again when somebody looks. */
  lay(offset: number, items: T[], total: number): void {
    if (total !== this.#rows.length) {
      // Something came or went that nobody told of, and nobody says where.
      this.#rows = Array.from({ length: total });
    }
    const ids = new Set(items.map((item) => item.id));
    for (const [index, row] of this.#rows.entries()) {
      if (row && ids.has(row.id)) this.#rows[index] = undefined;
    }
    for (const [index, item] of items.entries()) {
      if (offset + index < total) this.#rows[offset + index] = item;
    }
    for (const row of this.#rows.slice(offset, offset + WINDOW)) {
      if (row) this.#doubted.delete(row.id);
    }
  }

  /** All rows may have changed unseen. They are shown still, until an answer has them. */
  doubt(): void {
    this.#doubted = new Set(this.#rows.flatMap((row) => row?.id ?? []));
  }

  /** Adds a new row at its place among the newest; its index, or -1 where it is there already. */
  insert(item: T): number {
    if (this.indexOf(item.id) >= 0) return -1;
    let index = 0;
    while ((this.#rows[index]?.receivedAt ?? "") > item.receivedAt) index++;
    this.#rows.splice(index, 0, item);
    return index;
  }

  /** The places of these rows, lowest first. */
  places(ids: ReadonlySet<string>): number[] {
    if (ids.size === 0) return [];
    return [...this.#rows.keys()].filter((index) => ids.has(this.#rows[index]?.id ?? ""));
  }

  /** Takes rows away; how many were there. Those that were never fetched can't be told apart. */
  remove(ids: string[]): number {
    const gone = new Set(ids);
    const before = this.#rows.length;
    this.#rows = this.#rows.filter((row) => !row || !gone.has(row.id));
    return before - this.#rows.length;
  }

  update(change: (item: T) => T): void {
    this.#rows = this.#rows.map((row) => row && change(row));
  }

  clear(): void {
    this.#rows = [];
    this.#doubted.clear();
  }

  /** Where the windows begin that have rows from `from` up to `to` and lack some. */
  missing(from: number, to: number): number[] {
    return this.#windows(from, to, (row) => !row);
  }

  /** The same, also of those that have rows in doubt. */
  wanted(from: number, to: number): number[] {
    return this.#windows(from, to, (row) => !row || this.#doubted.has(row.id));
  }

  #windows(from: number, to: number, isOne: (row: T | undefined) => boolean): number[] {
    const windows = new Set<number>();
    for (let index = Math.max(from, 0); index < Math.min(to, this.total); index++) {
      if (isOne(this.#rows[index])) windows.add(index - (index % WINDOW));
    }
    return [...windows];
  }
}
