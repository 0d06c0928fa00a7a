import type { Schema } from "../api/client";
import { takePlace } from "./place";

/** What an inbox's stream tells. */
export type Event =
  | { type: "message.created"; message: Schema["MessageSummary"] }
  | { type: "message.updated"; message: Schema["MessageSummary"] }
  | { type: "message.deleted"; ids: string[]; all: boolean }
  | { type: "inbox.updated"; inbox: Schema["Inbox"]; marked?: Marked };

/** Messages that were marked together. */
interface Marked {
  ids: string[];
  isRead: boolean;
}

export type State = "connecting" | "live" | "waiting" | "closed";

export interface Handlers {
  event: (event: Event) => void;
  state: (state: State) => void;
  /** The stream is open, or open again: what was fetched before may lack what came meanwhile. */
  opened: () => void;
  /** Whether it is worth trying again, as EventSource does not tell why it was refused. */
  goesOn: () => Promise<boolean>;
}

const TYPES = ["message.created", "message.updated", "message.deleted", "inbox.updated"] as const;
/** Milliseconds before the first try, and before the last ones; each try doubles it. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
/** Milliseconds in which a connection has to open: one that is used again may have died in a sleep. */
const OPENING = 15_000;
/** Milliseconds after which a hidden page gives up its connection: a browser has six a host. */
const HIDDEN = 60_000;
/** Milliseconds between two looks at the clock, and what it may jump before a sleep is assumed. */
const LOOK = 10_000;
const SLEEP = 30_000;

/** The events of one inbox, for as long as it is open. */
export class Stream {
  #source: EventSource | undefined;
  #lastId = "";
  #pause = FIRST_PAUSE;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #opening: ReturnType<typeof setTimeout> | undefined;
  #look: ReturnType<typeof setInterval>;
  #looked = Date.now();
  #closed = false;
  /** A hidden page has given up its connection. */
  #gaveWay = false;
  #leavePlace = () => {};
  readonly #open: (lastEventId: string) => EventSource;
  readonly #handlers: Handlers;
  readonly #online = () => this.renew();
  readonly #visible = () => this.#visibility();

  constructor(open: (lastEventId: string) => EventSource, handlers: Handlers) {
    this.#open = open;
    this.#handlers = handlers;
    addEventListener("online", this.#online);
    document.addEventListener("visibilitychange", this.#visible);
    this.#look = setInterval(() => this.#lookAtClock(), LOOK);
    this.#connect();
  }

  close(): void {
    this.#closed = true;
    this.#drop();
    clearTimeout(this.#hiding);
    this.#leavePlace();
    clearInterval(this.#look);
    removeEventListener("online", this.#online);
    document.removeEventListener("visibilitychange", this.#visible);
    this.#handlers.state("closed");
  }

  #connect(): void {
    this.#drop();
    this.#handlers.state("connecting");
    const source = this.#open(this.#lastId);
    this.#source = source;
    source.onopen = () => this.#isOpen();
    source.onerror = () => this.#failed(source);
    this.#opening = setTimeout(() => this.#failed(source), OPENING);
    for (const type of TYPES) source.addEventListener(type, (event) => this.#heard(type, event));
  }

  #isOpen(): void {
    clearTimeout(this.#opening);
    this.#pause = FIRST_PAUSE;
    this.#handlers.state("live");
    this.#handlers.opened();
  }

  #heard(type: (typeof TYPES)[number], event: MessageEvent): void {
    this.#lastId = event.lastEventId;
    const data = JSON.parse(event.data);
    if (type === "message.deleted") {
      this.#handlers.event({ type, ids: data.ids, all: data.all === true });
    } else {
      this.#handlers.event({ type, ...data });
    }
  }

  /** The browser's own tries have no bound, so ours take their place. */
  #failed(source: EventSource): void {
    source.close();
    clearTimeout(this.#opening);
    this.#handlers.state("waiting");
    const pause = this.#pause * (0.8 + 0.4 * Math.random());
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#again(), pause);
  }

  async #again(): Promise<void> {
    const goesOn = await this.#handlers.goesOn();
    if (this.#closed || this.#gaveWay) return;
    if (goesOn) this.#connect();
    else this.close();
  }

  /** Opens it anew, going on after the last event. */
  renew(): void {
    if (this.#closed || document.hidden) return;
    this.#pause = FIRST_PAUSE;
    this.#connect();
  }

  #drop(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#opening);
    this.#source?.close();
    this.#source = undefined;
  }

  #visibility(): void {
    clearTimeout(this.#hiding);
    this.#leavePlace();
    if (!document.hidden) {
      this.#gaveWay = false;
      if (!this.#source) this.renew();
      return;
    }
    this.#hiding = setTimeout(() => void this.#giveWay(), HIDDEN);
  }

  /** Keeps the connection of a hidden page only where there is a place for it. */
  async #giveWay(): Promise<void> {
    const leave = await takePlace();
    if (this.#closed || !document.hidden) leave?.();
    else if (leave) this.#leavePlace = leave;
    else {
      this.#gaveWay = true;
      this.#drop();
      this.#handlers.state("waiting");
    }
  }

  /** Heartbeats can't be seen, so that a connection may be dead after a sleep without an error. */
  #lookAtClock(): void {
    const now = Date.now();
    if (now - this.#looked > LOOK + SLEEP) this.renew();
    this.#looked = now;
  }
}
