import { api, body, type Schema } from "../api/client";
import { ApiError, shown } from "../api/error";
import { type Inbox, inboxes } from "../api/inboxes.svelte";
import { Resource } from "../api/resource.svelte";
import { address } from "../lib/root";
import { type Event, type State, Stream } from "../live/stream";
import { text } from "../text/en";
import { held } from "../ui/held";
import { toasts } from "../ui/toasts.svelte";
import { batches, markMany } from "./bulk";
import { Deletions } from "./deletions.svelte";
import { MessageList } from "./list.svelte";
import type { Action } from "./many.svelte";
import { type Filter, isSame } from "./search";
import { Selection } from "./selection.svelte";

export type Message = Schema["Message"];

/** Messages that were opened and are kept. */
const KEPT = 50;
/** Milliseconds in which events are collected, and how many of them at most. */
const FRAME = 16;
const MOST = 500;
/** Milliseconds between two looks at the counts of a busy inbox. */
const COUNT = 500;
/** Milliseconds in which other inboxes that came are collected, before the stream is opened anew for them. */
const RENEW = 1_000;

/** An open inbox: its list, its stream, and the messages that were looked at. */
export class Mailbox {
  readonly id: string;
  readonly fetched: Resource<Inbox>;
  list: MessageList = $state.raw() as MessageList;
  live = $state<State>("connecting");
  /** When the stream was last known to be live. */
  asOf = $state.raw(new Date());
  /** Told of each message that arrives in the list, with its place. */
  arrived: (index: number) => void = () => {};
  /** Ids of messages that went while they were in view. */
  gone = $state.raw<ReadonlySet<string>>(new Set());
  readonly selection = new Selection(() => this.list);
  #kept = new Map<string, Message>();
  readonly #deletions: Deletions;
  /** Ids that were deleted from here, and of which the stream has not told yet. */
  #deleted = new Set<string>();
  #heard: Event[] = [];
  #missed = false;
  #counting: ReturnType<typeof setTimeout> | undefined;
  #stream: Stream;
  /** Ids of the inboxes beside this one of whose counts the stream tells. */
  #counted: ReadonlySet<string> = new Set();
  #renewing: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string, filter: Filter) {
    this.id = id;
    this.fetched = new Resource((signal) => inboxes.load(id, signal));
    this.#deletions = new Deletions(id, (ids) => this.#dropped(ids));
    this.list = this.#listOf(filter);
    this.#stream = this.#open();
    void this.fetched.reload();
  }

  get inbox(): Inbox | undefined {
    return inboxes.get(this.id) ?? this.fetched.value;
  }

  filter(filter: Filter): void {
    if (isSame(filter, this.list.filter)) return;
    this.list.close();
    this.selection.clear();
    this.list = this.#listOf(filter);
    this.list.show(0, 1);
  }

  /** Goes on after somebody signed in again. */
  resume(): void {
    if (this.live === "closed") this.#stream = this.#open();
    this.#reconcile();
  }

  /** Has the stream tell of inboxes that came to be known since it was opened. */
  countOthers(): void {
    if (inboxes.countedBeside(this.id).every((id) => this.#counted.has(id))) return;
    this.#renewing ??= setTimeout(() => {
      this.#renewing = undefined;
      this.#stream.renew();
    }, RENEW);
  }

  close(): void {
    this.#stream.close();
    clearTimeout(this.#counting);
    clearTimeout(this.#renewing);
    this.list.close();
    this.fetched.close();
    // What could still be undone no longer can be.
    void held.flush();
  }

  /** A whole message, from memory where it was opened before. */
  async message(id: string, signal?: AbortSignal): Promise<Message> {
    const kept = this.#kept.get(id);
    if (kept) return kept;
    const params = { path: { id } };
    const message = await body(
      api.GET("/api/messages/{id}", { params, ...(signal && { signal }) }),
    );
    // Its inbox is in the URL too, and the two may not belong together.
    if (message.inboxId !== this.id) throw new ApiError(text.messageGone, gone);
    this.#kept.set(id, message);
    const oldest = this.#kept.keys().next().value;
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return message;
  }

  /** Fetches what will be looked at next. */
  prefetch(id: string | undefined): void {
    if (id !== undefined) this.message(id).catch(() => {});
  }

  async mark(ids: string[], isRead: boolean): Promise<void> {
    const known = (id: string) => this.list.get(id) ?? this.#kept.get(id);
    const changed = ids.filter((id) => known(id)?.isRead !== isRead);
    this.#marked(changed, isRead);
    for (const some of batches(changed)) {
      try {
        await markMany(this.id, some, isRead);
      } catch (failure) {
        this.#marked(some, !isRead);
        fails(failure);
      }
    }
  }

  #marked(ids: string[], isRead: boolean): void {
    this.list.mark(isRead, new Set(ids));
    for (const id of ids) {
      const kept = this.#kept.get(id);
      if (kept) this.#kept.set(id, { ...kept, isRead });
    }
  }

  async markAllRead(): Promise<void> {
    try {
      const params = { path: { id: this.id } };
      await api.PATCH("/api/inboxes/{id}/messages", { params });
      this.list.mark(true);
    } catch (failure) {
      fails(failure);
    }
  }

  /** Opens a message's HTML in a tab of its own, where nothing of the console is around it. */
  async openHtml(id: string): Promise<void> {
    try {
      const params = { path: { id } };
      const { url } = await body(api.GET("/api/messages/{id}/preview-url", { params }));
      open(url, "_blank", "noopener,noreferrer");
    } catch (failure) {
      fails(failure);
    }
  }

  async sendTest(): Promise<void> {
    try {
      await api.POST("/api/inboxes/{id}/test-message", { params: { path: { id: this.id } } });
    } catch (failure) {
      fails(failure);
    }
  }

  /** Takes messages off the list at once; they are deleted when it is too late to undo that. */
  delete(ids: string[]): void {
    this.#deletions.add(ids);
  }

  /** Takes over what was done with these messages already. */
  did(action: Action, ids: string[]): void {
    if (action === "delete") this.#dropped(ids);
    else this.#marked(ids, action === "read");
  }

  #dropped(ids: string[]): void {
    this.selection.drop(ids);
    for (const id of this.list.drop(ids)) this.#deleted.add(id);
  }

  #open(): Stream {
    const open = (lastEventId: string) => {
      const counts = inboxes.countedBeside(this.id);
      this.#counted = new Set(counts);
      return new EventSource(address(eventsPath(this.id, lastEventId, counts)));
    };
    return new Stream(open, {
      event: (event) => this.#hear(event),
      state: (state) => this.#state(state),
      opened: () => this.list.asked && this.#reconcile(),
      goesOn: () => this.#goesOn(),
    });
  }

  #listOf(filter: Filter): MessageList {
    return new MessageList(this.id, filter, () => this.#deletions.hidden);
  }

  /** What arrives within a frame is applied at once. What is too much for that gives way to a look. */
  #hear(event: Event): void {
    this.asOf = new Date();
    if (this.#heard.length === 0) setTimeout(() => this.#apply(), FRAME);
    if (this.#heard.length < MOST) this.#heard.push(event);
    else this.#missed = true;
  }

  #apply(): void {
    const heard = this.#heard;
    this.#heard = [];
    for (const event of heard) this.#event(event);
    if (this.#missed) this.#reconcile();
    this.#missed = false;
  }

  #event(event: Event): void {
    switch (event.type) {
      case "message.created":
        this.arrived(this.list.arrive(event.message));
        this.#countSoon();
        break;
      case "message.updated":
        this.list.change(event.message);
        break;
      case "message.deleted":
        this.#went(event.ids, event.all);
        this.#countSoon();
        break;
      case "inbox.updated":
        if (event.inbox.id !== this.id) {
          inboxes.recount(event.inbox);
          break;
        }
        inboxes.put(event.inbox);
        if (event.marked) this.#marked(event.marked.ids, event.marked.isRead);
        // None is unread any more: somebody marked them all.
        if (event.inbox.unreadCount === 0) this.list.mark(true);
    }
  }

  #went(ids: string[], all: boolean): void {
    const gone = all ? [...this.#kept.keys()] : ids;
    this.gone = new Set([...this.gone, ...gone]);
    if (all) this.selection.clear();
    else this.selection.drop(ids);
    if (all) this.list.empty();
    // Those that are deleted from here are off the list already.
    else this.list.remove(ids.filter((id) => !this.#deleted.delete(id)));
  }

  /** What comes and goes does not tell how many there are now. */
  #countSoon(): void {
    this.#counting ??= setTimeout(() => {
      this.#counting = undefined;
      if (this.fetched.loading) this.#countSoon();
      else void this.fetched.reload();
    }, COUNT);
  }

  #state(state: State): void {
    if (this.live === "live" && state !== "live") this.asOf = new Date();
    this.live = state;
  }

  /** An open stream does not tell of what came before it, nor of marks and deletions in a pause. */
  #reconcile(): void {
    void this.list.refresh();
    void this.fetched.reload();
  }

  async #goesOn(): Promise<boolean> {
    await this.fetched.reload();
    // No stream is opened that is to tell of an inbox that is gone; nothing more is asked of a server that is away.
    if (!this.fetched.error) await inboxes.known.reload();
    return ![401, 403, 404].includes(this.fetched.error?.status ?? 0);
  }
}

const gone = { status: 404, code: "not_found" };

function fails(failure: unknown): void {
  const error = shown(failure);
  if (error) toasts.show(error.message);
}

function eventsPath(id: string, lastEventId: string, counts: string[]): string {
  const query = new URLSearchParams({
    ...(lastEventId !== "" && { lastEventId }),
    ...(counts.length > 0 && { counts: counts.join(",") }),
  });
  return `/api/inboxes/${id}/events${query.size > 0 ? `?${query}` : ""}`;
}
