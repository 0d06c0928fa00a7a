import { inLanguage } from "./language";
import { count, number } from "./words";

/** The texts of the list and of the message, beside those in `en.ts`. */
export const mail = inLanguage({
  deleted: (messages: number) => `${count(messages, "message", "messages")} deleted`,
  notDeleted: (messages: number, why: string) =>
    `${count(messages, "message", "messages")} not deleted: ${why}`,
  restored: (messages: number) =>
    messages === 1 ? "The message is back" : `${count(messages, "message", "messages")} are back`,
  nothingToUndo: "Nothing can be undone any more",

  select: (subject: string) => `Select “${subject}”`,
  selected: (messages: number) => `${number.format(messages)} selected`,
  selection: "Selection",
  clearSelection: "Clear the selection",
  selectEverything: (messages: number) => `Select all ${number.format(messages)} that match`,
  many: {
    delete: (messages: number) => `Delete ${count(messages, "message", "messages")}`,
    read: (messages: number) => `Mark ${count(messages, "message", "messages")} as read`,
    unread: (messages: number) => `Mark ${count(messages, "message", "messages")} as unread`,
  },
  deletedForGood:
    "They are deleted for good, 200 at a time. What arrives from now on is not among them.",
  progress: (done: number, total: number) =>
    `${number.format(done)} of ${number.format(total)} done`,
  stop: "Stop",
  stoppedAt: (done: number) => `Stopped. ${count(done, "message was", "messages were")} done.`,
  allDone: (done: number) => `Done: ${count(done, "message", "messages")}.`,

  forward: "Forward",
  copyLink: "Copy the link to this message",
  linkCopied: "The link to this message is copied",
  openHtml: "Open the HTML in a tab",

  filter: "Filter",
  hasAttachment: "Has attachment",
  operators:
    "to: from: subject: is:unread has:attachment after:2026-01-31 before:2026-02-28, and words",
  operator: { to: "to", from: "from", subject: "subject", after: "since", before: "before" },
  without: (operator: string, value: string) => `Take away the filter ${operator} ${value}`,
  follow: {
    name: "Follow",
    isPaused: "Paused",
    off: "Open each new message by itself",
    on: "Open each new message by itself, or no longer",
    paused: "Paused, because you went elsewhere. Press to go on",
  },

  palette: {
    title: "Jump to an inbox, or do something",
    search: "Name of an inbox or of a command",
    nothing: "No inbox and no command has this in its name",
  },
  places: {
    inboxes: "Go to the inboxes",
    connect: "Go to Connect",
    settings: "Go to the inbox's settings",
    webhooks: "Go to webhooks",
    forwarding: "Go to forwarding",
    idps: "Go to identity providers",
    mocks: "Go to API mocks",
    keys: "Go to API keys",
    team: "Go to the team",
  },

  keys: {
    undo: "Undo the deletion",
    select: "Select the message",
    extend: "Select the next too",
    extendBack: "Select the previous too",
    selectAll: "In the list: select all that are loaded, then all that match",
  },
});
