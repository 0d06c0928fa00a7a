import type { Summary } from "./list.svelte";

/** What a selection needs of its list. */
export interface Rows {
  /** Those in view, also where they are not known yet. */
  readonly total: number;
  at(index: number): Summary | undefined;
  indexOf(id: string): number;
  known(): Summary[];
}

/** All that matched at a moment, but for some. */
interface Everything {
  /** The newest time of receipt. What came later was never selected. */
  upTo: string;
  but: ReadonlySet<string>;
}

/** The selected messages of a list: by their ids, so that they stay whatever comes and goes. */
export class Selection {
  #ids = $state.raw<ReadonlySet<string>>(new Set());
  #everything = $state.raw<Everything | undefined>();
  /** From where `Shift` selects, and up to where it did last. */
  #anchor: string | undefined;
  #head: string | undefined;
  readonly #rows: () => Rows;

  constructor(rows: () => Rows) {
    this.#rows = rows;
  }

  readonly size = $derived.by(() => {
    if (!this.#everything) return this.#ids.size;
    const { upTo, but } = this.#everything;
    return Math.max(0, this.#rows().total - newer(this.#rows(), upTo) - but.size);
  });

  /** Whether all that match are selected, fetched or not. */
  get isEverything(): boolean {
    return this.#everything !== undefined;
  }

  /** The selected ones by id; not all, where everything is selected. */
  get ids(): string[] {
    return [...this.#ids];
  }

  has(message: Summary): boolean {
    if (!this.#everything) return this.#ids.has(message.id);
    return message.receivedAt <= this.#everything.upTo && !this.#everything.but.has(message.id);
  }

  toggle(message: Summary): void {
    this.#anchor = this.#head = message.id;
    if (this.#everything) {
      this.#everything = { ...this.#everything, but: toggled(this.#everything.but, message.id) };
    } else this.#ids = toggled(this.#ids, message.id);
  }

  /** Selects up to a row from where the last one was selected; from `start` where none was. */
  reach(id: string, start: string = id): void {
    const anchor = this.#known(this.#anchor) ?? start;
    const before = this.#between(anchor, this.#known(this.#head) ?? anchor);
    const kept = this.#ids.size === 0 ? [] : [...this.#ids].filter((one) => !before.includes(one));
    this.#everything = undefined;
    this.#ids = new Set([...kept, ...this.#between(anchor, id)]);
    this.#anchor = anchor;
    this.#head = id;
  }

  /** Selects the next row too, or the one before; which that is. `start` is where one is now. */
  extend(by: 1 | -1, start: string): string | undefined {
    const from = this.#known(this.#head) ?? start;
    const next = this.#rows().at(this.#rows().indexOf(from) + by)?.id;
    this.reach(next ?? from, start);
    return next;
  }

  /** Selects those that were fetched; where they are selected already, all that match. */
  all(): void {
    const known = this.#rows().known();
    if (this.#ids.size > 0 && known.every((message) => this.#ids.has(message.id))) {
      this.everything();
    } else this.#ids = new Set(known.map((message) => message.id));
  }

  everything(): void {
    const upTo = this.#rows().at(0)?.receivedAt;
    if (upTo === undefined) return;
    this.#ids = new Set();
    this.#everything = { upTo, but: new Set() };
  }

  clear(): void {
    this.#ids = new Set();
    this.#everything = undefined;
    this.#anchor = this.#head = undefined;
  }

  /** Messages that are gone. */
  drop(ids: string[]): void {
    const gone = new Set(ids);
    if (ids.some((id) => this.#ids.has(id))) {
      this.#ids = new Set([...this.#ids].filter((id) => !gone.has(id)));
    }
  }

  #known(id: string | undefined): string | undefined {
    return id !== undefined && this.#rows().indexOf(id) >= 0 ? id : undefined;
  }

  #between(one: string, other: string): string[] {
    const rows = this.#rows();
    const [from, to] = [rows.indexOf(one), rows.indexOf(other)].sort((a, b) => a - b);
    if (from === undefined || to === undefined || from < 0) return [other];
    const all = Array.from({ length: to - from + 1 }, (_, at) => rows.at(from + at)?.id);
    return all.filter((id) => id !== undefined);
  }
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** How many came later: they are the first rows, and known. */
function newer(rows: Rows, upTo: string): number {
  let count = 0;
  while ((rows.at(count)?.receivedAt ?? "") > upTo) count++;
  return count;
}
