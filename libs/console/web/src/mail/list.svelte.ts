import { api, body, type Schema } from "../api/client";
import { type ApiError, shown } from "../api/error";
import { matches } from "./matching";
import { type Filter, toApi } from "./search";
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
  #underWay = 0;
  /** How rows changed since the first of the answers that are under way was asked for. */
  #changed: ((message: Summary) => Summary)[] = [];
  /** Windows that are fetched again soon. */
  #stale = new Set<number>();
  #soon: ReturnType<typeof setTimeout> | undefined;
  #given = new AbortController();
  /** Where the hidden rows are among all. The rows in view have places of their own, without them. */
  #holes: number[];

  /** `hidden` names messages that are not shown, though the API has them still. */
  constructor(inboxId: string, filter: Filter, hidden: () => ReadonlySet<string>) {
    this.inboxId = inboxId;
    this.filter = filter;
    this.#holes = $derived.by(() => {
      void this.#version;
      return this.#slots.places(hidden());
    });
  }

  /** Whether there is an answer, or one under way. */
  get asked(): boolean {
    return this.loaded || this.#underWay > 0;
  }

  /** Grows with each change of the rows. */
  get changes(): number {
    return this.#version;
  }

  get total(): number {
    return this.#version >= 0 ? this.#slots.total - this.#holes.length : 0;
  }

  at(index: number): Summary | undefined {
    return this.#version >= 0 ? this.#slots.at(this.#place(index)) : undefined;
  }

  get(id: string): Summary | undefined {
    return this.#version >= 0 ? this.#slots.get(id) : undefined;
  }

  /** Its place in view; -1 where it is not, or not known to be. */
  indexOf(id: string): number {
    const place = this.#version >= 0 ? this.#slots.indexOf(id) : -1;
    if (place < 0 || this.#holes.includes(place)) return -1;
    return place - this.#holes.filter((hole) => hole < place).length;
  }

  /** Those that were fetched and are in view, newest first. */
  known(): Summary[] {
    const all = Array.from({ length: this.total }, (_, index) => this.at(index));
    return all.filter((message) => message !== undefined);
  }

  /** Fetches what lacks of these rows, or is in doubt. */
  show(from: number, to: number): void {
    if (!this.loaded) void this.#fetch(0);
    else {
      const wanted = this.#slots.wanted(this.#place(from), this.#place(to));
      for (const offset of wanted) void this.#fetch(offset);
    }
  }

  /** Fetches the newest rows again, and the others when somebody looks at them. */
  async refresh(): Promise<void> {
    this.#slots.doubt();
    // Nor is an answer good that is under way.
    this.#moved();
    await this.#fetch(0, true);
  }

  /** A page of what matches, numbered from 1. */
  page(page: number, limit: number): Promise<Schema["MessagePage"]> {
    const query = { page, limit, ...toApi(this.filter) };
    const params = { path: { id: this.inboxId }, query };
    const signal = this.#given.signal;
    return body(api.GET("/api/inboxes/{id}/messages", { params, signal }));
  }

  close(): void {
    clearTimeout(this.#soon);
    this.#given.abort();
  }

  /** A new message; its place in the list, or -1 where it is in none. */
  arrive(message: Summary): number {
    const index = matches(message, this.filter) ? this.#slots.insert(message) : -1;
    if (index < 0) return -1;
    this.#moved();
    return this.indexOf(message.id);
  }

  /** A changed message. One that was read stays under "Unread" until the filter is applied again. */
  change(message: Summary): void {
    this.#change((known) => (known.id === message.id ? message : known));
  }

  /** Messages that are gone. */
  remove(ids: string[]): void {
    const known = this.#slots.remove(ids);
    this.#moved();
    // Which of the rows that nobody has seen are gone, only the server can tell.
    if (known < ids.length && this.loaded) this.#refreshSoon();
  }

  /** Messages that were deleted from here; those that were in the list. */
  drop(ids: string[]): string[] {
    const known = ids.filter((id) => this.#slots.get(id));
    if (known.length > 0) this.remove(known);
    return known;
  }

  empty(): void {
    this.#slots.clear();
    this.#moved();
  }

  /** Marks these messages, or all. */
  mark(isRead: boolean, ids?: ReadonlySet<string>): void {
    this.#change((message) =>
      message.isRead === isRead || ids?.has(message.id) === false
        ? message
        : { ...message, isRead },
    );
  }

  /** Changes rows, and remembers how: an answer that is under way may be from before. */
  #change(change: (message: Summary) => Summary): void {
    this.#slots.update(change);
    if (this.#underWay > 0) this.#changed.push(change);
    this.#version++;
  }

  /** The place among all of a row in view. */
  #place(index: number): number {
    let place = index;
    for (const hole of this.#holes) if (hole <= place) place++;
    return place;
  }

  /** However much happens elsewhere, a window is fetched again twice a second at most. */
  #refreshSoon(offset = 0): void {
    this.#stale.add(offset);
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      const stale = [...this.#stale];
      this.#stale.clear();
      for (const from of stale) void this.#fetch(from, true);
    }, SOON);
  }

  #moved(): void {
    this.#moves++;
    this.#version++;
  }

  /** Whether all rows of a window are there. */
  #isWhole(offset: number): boolean {
    return this.loaded && this.#slots.missing(offset, offset + WINDOW).length === 0;
  }

  async #fetch(offset: number, again = false): Promise<void> {
    if (this.#asked.has(offset) && !again) return;
    this.#asked.add(offset);
    this.#underWay++;
    try {
      for (let tries = 1; ; tries++) {
        const [moves, changes] = [this.#moves, this.#changed.length];
        const page = await this.page(offset / WINDOW + 1, WINDOW);
        // Positions are those of the moment at which the server looked.
        const hasMoved = moves !== this.#moves;
        if (hasMoved && tries < TRIES) continue;
        if (hasMoved) this.#refreshSoon(offset);
        // What is shown is as good, and stays where somebody looks at it.
        if (hasMoved && this.#isWhole(offset)) break;
        const since = this.#changed.slice(changes);
        const rows = page.messages.map((row) => since.reduce((now, change) => change(now), row));
        this.#slots.lay(offset, rows, page.total);
        this.#version++;
        this.loaded = true;
        this.error = undefined;
        break;
      }
    } catch (failure) {
      this.error = shown(failure);
    } finally {
      this.#asked.delete(offset);
      if (--this.#underWay === 0) this.#changed = [];
    }
  }
}
