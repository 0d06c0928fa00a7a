import type { Schema } from "../api/client";

export type Entry = Schema["AuditEntry"];

/** Whether an entry has every word of a filter in what is shown of it, in any case. */
export function matches(entry: Entry, filter: string): boolean {
  const { actor, action, target } = entry;
  const shown = `${actor.name} ${action} ${target.type} ${target.name}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => shown.includes(word));
}
