import { type ApiError, shown } from "../api/error";
import { deleteMany, MANY, markMany } from "./bulk";
import type { Summary } from "./list.svelte";
import type { Mailbox } from "./mailbox.svelte";

export type Action = "delete" | "read" | "unread";

/** Does something with all selected messages of a list, however many were fetched: some at a time. */
export class Many {
  readonly action: Action;
  readonly total: number;
  done = $state(0);
  /** How it goes: not begun, going on, or at its end because all is done or somebody stopped it. */
  state = $state<"asked" | "running" | "stopped" | "done">("asked");
  error = $state.raw<ApiError | undefined>();
  readonly #mailbox: Mailbox;
  /** What was asked for already: the server may list it again a moment later. */
  #seen = new Set<string>();

  constructor(mailbox: Mailbox, action: Action) {
    this.#mailbox = mailbox;
    this.action = action;
    this.total = mailbox.selection.size;
  }

  async run(): Promise<void> {
    this.state = "running";
    this.error = undefined;
    try {
      for (let page = 1; this.state === "running";) {
        const { messages, total } = await this.#mailbox.list.page(page, MANY);
        const ids = messages.filter((message) => this.#isMeant(message)).map(({ id }) => id);
        if (ids.length > 0) await this.#act(ids);
        // What was deleted makes room on this page; what stays does not.
        else if (page * MANY < total) page++;
        else this.state = "done";
      }
      this.#mailbox.selection.clear();
    } catch (failure) {
      this.error = shown(failure);
      this.state = "stopped";
    }
  }

  stop(): void {
    if (this.state === "running") this.state = "stopped";
  }

  #isMeant(message: Summary): boolean {
    if (this.#seen.has(message.id) || !this.#mailbox.selection.has(message)) return false;
    return this.action === "delete" || message.isRead !== (this.action === "read");
  }

  async #act(ids: string[]): Promise<void> {
    const { id } = this.#mailbox;
    this.done +=
      this.action === "delete"
        ? await deleteMany(id, ids)
        : await markMany(id, ids, this.action === "read");
    for (const id of ids) this.#seen.add(id);
    this.#mailbox.did(this.action, ids);
  }
}
