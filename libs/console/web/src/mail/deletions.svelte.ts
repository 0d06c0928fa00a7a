import { shown } from "../api/error";
import { held } from "../ui/held";
import { mail } from "../text/mail";
import { toasts } from "../ui/toasts.svelte";
import { batches, deleteMany } from "./bulk";

/** Messages that are no longer shown, and are deleted when it is too late to undo that. */
export class Deletions {
  hidden = $state.raw<ReadonlySet<string>>(new Set());
  readonly #inboxId: string;
  readonly #gone: (ids: string[]) => void;

  /** Tells `gone` of those that the server no longer has. */
  constructor(inboxId: string, gone: (ids: string[]) => void) {
    this.#inboxId = inboxId;
    this.#gone = gone;
  }

  add(ids: string[]): void {
    const wanted = ids.filter((id) => !this.hidden.has(id));
    if (wanted.length === 0) return;
    this.hidden = new Set([...this.hidden, ...wanted]);
    const undo = () => {
      toasts.leave(toast);
      this.#show(wanted);
      toasts.show(mail.restored(wanted.length));
    };
    const make = (leaving: boolean) => {
      toasts.leave(toast);
      return this.#delete(wanted, leaving);
    };
    const change = { make, undo };
    const toast = toasts.show(mail.deleted(wanted.length), () => held.undo(change));
    held.add(change);
  }

  async #delete(ids: string[], leaving: boolean): Promise<void> {
    for (const some of batches(ids)) {
      const sent = this.#send(some, leaving);
      // A page that is being left has no later.
      if (!leaving) await sent;
    }
  }

  async #send(ids: string[], keepalive: boolean): Promise<void> {
    try {
      await deleteMany(this.#inboxId, ids, keepalive);
      this.#gone(ids);
    } catch (failure) {
      toasts.show(mail.notDeleted(ids.length, shown(failure)?.message ?? ""));
    }
    this.#show(ids);
  }

  #show(ids: string[]): void {
    const back = new Set(ids);
    this.hidden = new Set([...this.hidden].filter((id) => !back.has(id)));
  }
}
