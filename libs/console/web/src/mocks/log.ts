import type { CallSummary } from "./mocks.svelte";

/** Whether a call has every word of a filter in what is shown of it, in any case. */
export function matches(call: CallSummary, filter: string): boolean {
  const { method, path, query, status, operation, fault } = call;
  const shown = [method, path, query, status, operation, fault].join(" ").toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => shown.includes(word));
}
