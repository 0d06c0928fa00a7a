import { Attempt } from "../../api/attempt.svelte";
import { api, body, type Schema } from "../../api/client";
import { shown } from "../../api/error";
import { askOwner, isVerified, type Ways, ways } from "../../api/forwarding";
import { Resource } from "../../api/resource.svelte";

type Forward = Schema["Forward"];

const LAST = "trapline.forward";
/** Milliseconds between two looks at how forwards stand. */
const LOOK = 1_000;

/** Forwards one message, and follows each recipient until that is final. */
export class Forwarding extends Attempt {
  readonly ways = new Resource<Ways>(ways);
  /** Ids of the chosen addresses; at first those of the last time. */
  chosen = $state.raw<ReadonlySet<string>>(new Set(last()));
  /** One for each recipient, once the message is on its way. */
  sent = $state.raw<Forward[] | undefined>();
  readonly #message: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = new AbortController();

  constructor(message: string) {
    super();
    this.#message = message;
    void this.ways.reload();
  }

  readonly verified = $derived(this.ways.value?.addresses.filter(isVerified) ?? []);
  readonly waiting = $derived(
    this.ways.value?.addresses.filter((address) => !isVerified(address)) ?? [],
  );
  /** The chosen ones that are there still. */
  readonly to = $derived(this.verified.filter((address) => this.chosen.has(address.id)));

  toggle(id: string): void {
    const chosen = new Set(this.chosen);
    if (!chosen.delete(id)) chosen.add(id);
    this.chosen = chosen;
  }

  /** Adds an address, whose owner is then asked; whether that went well. */
  async add(email: string): Promise<boolean> {
    return this.run(async () => {
      await askOwner(email);
      await this.ways.reload();
    });
  }

  async send(): Promise<void> {
    localStorage.setItem(LAST, JSON.stringify(this.to.map((address) => address.id)));
    await this.run(async () => {
      const to = this.to.map((address) => address.email);
      const params = { path: { id: this.#message } };
      this.sent = await body(api.POST("/api/messages/{id}/forward", { params, body: { to } }));
      this.#lookLater();
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closed.abort();
    this.ways.close();
  }

  #lookLater(): void {
    if (this.#closed.signal.aborted || this.sent?.every(isFinal)) return;
    this.#timer = setTimeout(() => void this.#look(), LOOK);
  }

  async #look(): Promise<void> {
    const params = { path: { id: this.#message } };
    const signal = this.#closed.signal;
    try {
      const all = await body(api.GET("/api/messages/{id}/forward", { params, signal }));
      const now = new Map(all.map((forward) => [forward.id, forward]));
      this.sent = this.sent?.map((forward) => now.get(forward.id) ?? forward);
    } catch (failure) {
      this.error = shown(failure);
      if (this.error) return;
    }
    this.#lookLater();
  }
}

export function isFinal({ status }: Forward): boolean {
  return status === "sent" || status === "failed";
}

/** The addresses of the last time, by their ids: none of a mail is kept. */
function last(): string[] {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(LAST) ?? "[]");
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}
