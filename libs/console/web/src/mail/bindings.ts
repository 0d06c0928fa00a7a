import type { Binding } from "../keys/keymap";
import { text } from "../text/en";
import { mail } from "../text/mail";
import type { Desk } from "./desk.svelte";
import { follow } from "./follow.svelte";

/** The keys of an open inbox. */
export function bindings(desk: Desk, enter: () => void, search: () => void): Binding[] {
  const { mailbox } = desk;
  return [
    { keys: ["j"], label: text.keys.next, run: () => desk.step(1) },
    { keys: ["k"], label: text.keys.previous, run: () => desk.step(-1) },
    {
      keys: ["Enter", "o"],
      label: text.keys.open,
      run: () => (desk.chosen === null ? desk.step(1) : enter()),
    },
    { keys: ["Escape", "u"], label: text.keys.back, run: () => desk.back() },
    { keys: ["x"], label: mail.keys.select, run: () => desk.select() },
    { keys: ["Shift+J"], label: mail.keys.extend, run: () => desk.extend(1) },
    { keys: ["Shift+K"], label: mail.keys.extendBack, run: () => desk.extend(-1) },
    {
      keys: ["Mod+A"],
      label: mail.keys.selectAll,
      within: "[data-list]",
      run: () => mailbox.selection.all(),
    },
    { keys: ["c"], label: text.keys.code, run: () => void desk.take("codes") },
    { keys: ["l"], label: text.keys.link, run: () => void desk.take("links") },
    { keys: ["y"], label: mail.copyLink, run: () => void desk.share() },
    { keys: ["f"], label: mail.forward, run: () => desk.forward() },
    { keys: ["#", "Delete"], label: text.keys.delete, run: () => desk.remove() },
    { keys: ["z"], label: mail.keys.undo, run: () => desk.undo() },
    { keys: ["Shift+I"], label: text.markRead, run: () => desk.mark(true) },
    { keys: ["Shift+U"], label: text.markUnread, run: () => desk.mark(false) },
    { keys: ["Shift+A"], label: text.keys.allRead, run: () => void mailbox.markAllRead() },
    { keys: ["t"], label: mail.follow.on, run: () => follow.toggle() },
    { keys: ["/"], label: text.keys.search, run: search },
    { keys: ["r"], label: text.keys.reload, run: () => void mailbox.list.refresh() },
  ];
}
