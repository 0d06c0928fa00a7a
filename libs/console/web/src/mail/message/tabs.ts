import type { Message } from "../mailbox.svelte";
import { text } from "../../text/en";

/** In the order of their keys, 1 to 8. */
export const TABS = [
  "html",
  "text",
  "source",
  "headers",
  "raw",
  "files",
  "links",
  "checks",
] as const;

export type Tab = (typeof TABS)[number];

/** The tab that a mail is shown in: the chosen one, or the nearest that it has. */
export function nearest(chosen: string | null, message: Message): Tab {
  const tab = TABS.find((tab) => tab === chosen) ?? "html";
  const isHtml = tab === "html" || tab === "source";
  if (isHtml && message.html === null) return "text";
  if (tab === "text" && message.text === null && message.html !== null) return "html";
  return tab;
}

export function tabsOf(message: Message): { id: Tab; label: string; count?: number }[] {
  const counts: Partial<Record<Tab, number | undefined>> = {
    files: message.attachments.length + message.alternatives.length,
    links: message.links.length + message.codes.length,
    checks: message.warnings.length || undefined,
  };
  return TABS.map((id) => {
    const count = counts[id];
    return { id, label: text.tabs[id], ...(count !== undefined && { count }) };
  });
}
