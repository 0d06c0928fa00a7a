import { isAbort } from "./error";
import { Resource } from "./resource.svelte";

/** Where a log comes from. */
interface Source<T> {
  /** The newest entries, newest first. */
  newest: (signal?: AbortSignal) => Promise<T[]>;
  /** What may have come since this one; the newest entries again where the API cannot say. */
  since?: (newest: T) => Promise<T[]>;
  /** Older ones than these; none that is new at the end. */
  older?: (known: T[]) => Promise<T[]>;
}

/** Entries of a log, newest first: those that were fetched at first, what came since, and older ones as somebody
 * goes further down. Ids are in the order of time. */
export class Feed<T extends { id: string }> {
  readonly all: Resource<T[]>;
  #source: Source<T>;
  #looking = false;
  #ended = false;

  constructor(source: Source<T>) {
    this.#source = source;
    this.all = new Resource((signal) => {
      this.#ended = source.older === undefined;
      return source.newest(signal);
    });
  }

  /** Takes in what came since. What cannot be fetched now is fetched by the next look. */
  async look(): Promise<void> {
    await this.#take(([newest]) => {
      if (newest && this.#source.since) return this.#source.since(newest);
      return this.#source.newest();
    });
  }

  /** Takes in what is older. */
  async more(): Promise<void> {
    const { older } = this.#source;
    if (this.#ended || !older) return;
    await this.#take(async (known) => {
      const found = await older(known);
      const ids = new Set(known.map(({ id }) => id));
      this.#ended = found.every(({ id }) => ids.has(id));
      return found;
    });
  }

  /** One at a time, and none beside a reload, which has all of it. */
  async #take(fetch: (known: T[]) => Promise<T[]>): Promise<void> {
    const known = this.all.value;
    if (!known || this.all.loading || this.#looking) return;
    this.#looking = true;
    try {
      const found = await fetch(known);
      if (this.all.value === known) this.all.value = merged(known, found);
    } catch (failure) {
      if (!(failure instanceof Error) && !isAbort(failure)) throw failure;
    } finally {
      this.#looking = false;
    }
  }
}

/** Both, newest first, each entry once and as it is in the second. */
export function merged<T extends { id: string }>(known: T[], found: T[]): T[] {
  const all = new Map(known.map((entry) => [entry.id, entry]));
  for (const entry of found) all.set(entry.id, entry);
  return [...all.values()].sort((one, other) => (one.id < other.id ? 1 : -1));
}
