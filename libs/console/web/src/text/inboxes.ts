import { inLanguage } from "./language";
import { count, number } from "./words";

const inboxesOf = (value: number) => count(value, "inbox", "inboxes");

export const inboxes = inLanguage({
  title: "Inboxes",
  search: "Search name or address",
  kind: "Kind",
  kinds: { all: "All", lasting: "Lasting", disposable: "Disposable" },
  project: "Project",
  anyProject: "Any",
  found: (value: number) => inboxesOf(value),
  none: "There are no inboxes yet",
  noneNext: "Make one with the plus sign beside the name of the team.",
  nothingFound: "No inbox matches",
  clear: "Clear the filter",
  name: "Name",
  messages: "Messages",
  unread: "Unread",
  ends: "Ends",
  never: "Never",
  select: (name: string) => `Select ${name}`,
  selectAll: "Select all that are shown",
  delete: (value: number) => `Delete ${inboxesOf(value)}`,
  deleteAll: (value: number) => `Delete all ${number.format(value)} that match`,
  deleteWhat: (value: number, messages: number | undefined) =>
    messages === undefined
      ? `${inboxesOf(value)} with all their messages will be gone for good, one after the other.`
      : `${inboxesOf(value)} with ${count(messages, "message", "messages")} will be gone for good.`,
  progress: (done: number, total: number) =>
    `${number.format(done)} of ${inboxesOf(total)} deleted`,
  stop: "Stop",
  mayNot: "You may not change inboxes in this team. Its owners and admins give that right.",
});

export const projects = inLanguage({
  title: "Projects",
  none: "There are no projects yet",
  noneNext: "A project groups inboxes that belong together.",
  new: "New project",
  name: "Name",
  rename: (name: string) => `Rename ${name}`,
  delete: (name: string) => `Delete ${name}`,
  deleteTitle: "Delete project",
  deleteWhat: (name: string) => `“${name}” will be gone. Its inboxes stay, in no project.`,
  inboxes: "Inboxes",
  show: "Show",
  made: "Made",
});

export const settings = inLanguage({
  limits: "Limits",
  maxMessages: "Messages that are kept",
  maxMessagesWhat: "When more come, the oldest give way.",
  goes: (value: number) =>
    `${count(value, "message", "messages")}, the oldest, will be gone for good as soon as this is saved.`,
  saveAndDelete: (value: number) => `Save and delete ${count(value, "message", "messages")}`,
  noneProject: "None",
});
