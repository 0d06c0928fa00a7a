import { copy } from "../lib/clipboard";
import { address } from "../lib/root";
import { router } from "../router/router.svelte";
import { text } from "../text/en";
import { mail } from "../text/mail";
import { held } from "../ui/held";
import { toasts } from "../ui/toasts.svelte";
import type { Summary } from "./list.svelte";
import type { Mailbox } from "./mailbox.svelte";
import type { Action } from "./many.svelte";
import { type Filter, NOTHING, toUrl } from "./search";

/** The drawn list. */
interface Drawn {
  /** Brings a row into view, and gives it the focus where another row has it. */
  reveal: (index: number) => void;
  /** The message whose row has the focus. */
  focused: () => string | undefined;
}

/** What one does with an open inbox, by keys or by buttons. */
export class Desk {
  readonly mailbox: Mailbox;
  drawn: Drawn | undefined;
  /** What is about to be done with all that match. */
  many = $state<Action | undefined>();
  /** The message that is about to be forwarded. */
  forwarding = $state<string | undefined>();
  readonly chosen = $derived(router.query.get("message"));

  constructor(mailbox: Mailbox) {
    this.mailbox = mailbox;
  }

  open(message: string | null, how: "push" | "replace" = "push"): void {
    router.set({ message, ...(message === null && { tab: null }) }, how);
  }

  /** To the message after the open one, or before it; to the newest where none is open. */
  step(by: 1 | -1): void {
    const { list } = this.mailbox;
    const at = this.chosen === null ? -1 : list.indexOf(this.chosen);
    const next = at < 0 ? 0 : Math.min(Math.max(at + by, 0), list.total - 1);
    const message = list.at(next);
    if (!message) return;
    this.open(message.id, "replace");
    this.drawn?.reveal(next);
    this.mailbox.prefetch(list.at(next + by)?.id);
  }

  /** One step back: the selection, then the message, then the filter. */
  back(): void {
    const chosen = this.chosen;
    if (this.mailbox.selection.size > 0) this.mailbox.selection.clear();
    else if (chosen !== null) {
      const row = document.querySelector<HTMLElement>(`[data-message="${CSS.escape(chosen)}"]`);
      this.open(null);
      row?.focus();
    } else this.filter(NOTHING);
  }

  /** Limits the list; what the URL says of it is what holds. */
  filter(filter: Filter): void {
    router.set(toUrl(filter));
  }

  select(): void {
    const message = this.mailbox.list.get(this.#here() ?? "");
    if (message) this.mailbox.selection.toggle(message);
  }

  extend(by: 1 | -1): void {
    const here = this.#here();
    const next = here === undefined ? undefined : this.mailbox.selection.extend(by, here);
    if (next !== undefined) this.drawn?.reveal(this.mailbox.list.indexOf(next));
  }

  /** Deletes one message, or the selected ones, or the one at hand, and shows the next. */
  remove(one?: string): void {
    const { list, selection } = this.mailbox;
    if (selection.isEverything && one === undefined) {
      this.many = "delete";
      return;
    }
    const ids = one === undefined ? this.#wanted() : [one];
    if (ids.length === 0) return;
    const next = this.#nextWithout(new Set(ids));
    this.mailbox.delete(ids);
    selection.drop(ids);
    if (this.chosen === null || !ids.includes(this.chosen)) return;
    this.open(next?.id ?? null, "replace");
    if (next) this.drawn?.reveal(list.indexOf(next.id));
  }

  mark(isRead: boolean): void {
    if (this.mailbox.selection.isEverything) this.many = isRead ? "read" : "unread";
    else void this.mailbox.mark(this.#wanted(), isRead);
  }

  undo(): void {
    if (!held.undo()) toasts.show(mail.nothingToUndo);
  }

  /** Copies the first code, or the first link, of the open message; of the newest where none is open. */
  async take(what: "codes" | "links"): Promise<void> {
    const from = this.chosen ?? this.mailbox.list.at(0)?.id;
    const message = from && (await this.mailbox.message(from).catch(() => undefined));
    if (!message) return;
    const value = what === "codes" ? message.codes[0] : message.links[0]?.url;
    if (value === undefined) toasts.show(what === "codes" ? text.noCode : text.noLink);
    else toasts.show((await copy(value)) ? text.copiedValue(value) : text.notCopied);
  }

  /** Copies the address that shows a message to a colleague. */
  async share(id = this.#here()): Promise<void> {
    if (id === undefined) return;
    const link = new URL(address(`/inboxes/${this.mailbox.id}?message=${id}`), location.href);
    toasts.show((await copy(link.href)) ? mail.linkCopied : text.notCopied);
  }

  forward(id = this.#here()): void {
    this.forwarding = id;
  }

  /** The row that has the focus, else the open message, else the newest. */
  #here(): string | undefined {
    return this.drawn?.focused() ?? this.chosen ?? this.mailbox.list.at(0)?.id;
  }

  #wanted(): string[] {
    const { selection } = this.mailbox;
    if (selection.size > 0) return selection.ids;
    const one = this.chosen ?? this.drawn?.focused();
    return one === undefined ? [] : [one];
  }

  /** What is shown when these and the open message are gone: the next that stays, else the one before. */
  #nextWithout(gone: Set<string>): Summary | undefined {
    const { list } = this.mailbox;
    const at = this.chosen === null ? -1 : list.indexOf(this.chosen);
    const stays = (by: 1 | -1) => {
      let index = at + by;
      while (gone.has(list.at(index)?.id ?? "")) index += by;
      return list.at(index);
    };
    return at < 0 ? undefined : (stays(1) ?? stays(-1));
  }
}
