import { api, body, type Schema } from "../api/client";
import { type ApiError, shown } from "../api/error";
import { type Filter, matches } from "./matching";
import { Slots, WINDOW } from "./slots";

export type Summary = Schema["MessageSummary"];

/** How often a window is asked for again, because the list changed while its answer was under way. */
const TRIES = 3;
/** Milliseconds before rows are fetched again that others took away unseen. */
const SOON = 500;

/** The messages of an inbox that a filter leaves. */
export class MessageList {
  readonly inboxId: string;
  readonly filter: Filter;
  /** Whether there was an answer yet. */
  loaded = $state(false);
  error = $state.raw<ApiError | undefined>();
  #slots = new Slots<Summary>();
  /** Grows with each change of the rows, which are no state themselves. */
  #version = $state(0);
  /** How many messages came or went since the beginning. */
  #moves = 0;
  #asked = new Set<number>();
  #soon: ReturnType<typeof setTimeout> | undefined;
  #given = new AbortController();
  #hidden: () => string[];

  /** `hidden` names messages that are not shown, though the API has them still. */
  constructor(inboxId: string, filter: Filter, hidden: () => string[]) {
    this.inboxId = inboxId;
    this.filter = filter;
    this.#hidden = hidden;
  }

  /** Grows with each change of the rows. */
  get changes(): number {
    return this.#version;
  }

  get total(): number {
    return this.#version >= 0 ? this.#slots.total : 0;
  }

  at(index: number): Summary | undefined {
    return this.#version >= 0 ? this.#slots.at(index) : undefined;
  }

  get(id: string): Summary | undefined {
    return this.#version >= 0 ? this.#slots.get(id) : undefined;
  }

  indexOf(id: string): number {
    return this.#version >= 0 ? this.#slots.indexOf(id) : -1;
  }

  /** Fetches what lacks of these rows. */
  show(from: number, to: number): void {
    if (!this.loaded) void this.#fetch(0);
    else for (const offset of this.#slots.missing(from, to)) void this.#fetch(offset);
  }

  /** Fetches the rows again that are in view; the others when they are. */
  async refresh(from = 0): Promise<void> {
    await this.#fetch(from - (from % WINDOW), true);
  }

  close(): void {
    clearTimeout(this.#soon);
    this.#given.abort();
  }

  /** A new message; its place in the list, or -1 where it is in none. */
  arrive(message: Summary): number {
    const index = matches(message, this.filter) ? this.#slots.insert(message) : -1;
    if (index >= 0) this.#moved();
    return index;
  }

  /** A changed message. One that was read stays under "Unread" until the filter is applied again. */
  change(message: Summary): void {
    this.#slots.replace(message);
    this.#version++;
  }

  /** Messages that are gone. */
  remove(ids: string[]): void {
    const known = this.#slots.remove(ids);
    this.#moved();
    // Which of the rows that nobody has seen are gone, only the server can tell.
    if (known < ids.length && this.loaded) this.#refreshSoon();
  }

  empty(): void {
    this.#slots.clear();
    this.#moved();
  }

  markAll(isRead: boolean): void {
    this.#slots.update((message) => ({ ...message, isRead }));
    this.#version++;
  }

  /** However much is deleted elsewhere, the list is fetched again twice a second at most. */
  #refreshSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.refresh();
    }, SOON);
  }

  #moved(): void {
    this.#moves++;
    this.#version++;
  }

  async #fetch(offset: number, again = false): Promise<void> {
    if (this.#asked.has(offset) && !again) return;
    this.#asked.add(offset);
    try {
      for (let tries = 1; ; tries++) {
        const moves = this.#moves;
        const page = await this.#page(offset);
        // Positions are those of the moment at which the server looked.
        if (moves !== this.#moves && tries < TRIES) continue;
        this.#slots.lay(offset, page.messages, page.total);
        this.#slots.remove(this.#hidden());
        this.#version++;
        this.loaded = true;
        this.error = undefined;
        break;
      }
    } catch (failure) {
      this.error = shown(failure);
    } finally {
      this.#asked.delete(offset);
    }
  }

  #page(offset: number): Promise<Schema["MessagePage"]> {
    const { q, unread } = this.filter;
    const page = offset / WINDOW + 1;
    const query = { page, limit: WINDOW, ...(q && { q }), ...(unread && { unread }) };
    const params = { path: { id: this.inboxId }, query };
    const signal = this.#given.signal;
    return body(api.GET("/api/inboxes/{id}/messages", { params, signal }));
  }
}
