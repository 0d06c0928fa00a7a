import type { Delivery } from "./webhooks.svelte";

const HOUR = 3_600_000;
/** Milliseconds before an attempt is due from which on its outcome is looked for. */
const SOON = 3_000;

/** Whether something is about to happen to one of these. */
export function moving(deliveries: Delivery[], now: number): boolean {
  return deliveries.some(({ status, nextAttemptAt }) => {
    const due = nextAttemptAt !== null && Date.parse(nextAttemptAt) - SOON <= now;
    return status === "pending" || (status === "retrying" && due);
  });
}

/** Failed deliveries of one hour of the clock. */
export interface FailedHour {
  /** When it began (milliseconds since 1970). */
  from: number;
  to: number;
  /** Oldest first: that is the order in which receivers should have had them. */
  deliveries: Delivery[];
}

/** What failed and was not sent again since, by hours, the latest first. Tests are left out. */
export function failedHours(deliveries: Delivery[]): FailedHour[] {
  const hours = new Map<number, Delivery[]>();
  for (const delivery of latest(deliveries)) {
    if (delivery.status !== "failed" || delivery.event === "webhook.test") continue;
    const from = Date.parse(delivery.createdAt);
    const hour = from - (from % HOUR);
    hours.set(hour, [delivery, ...(hours.get(hour) ?? [])]);
  }
  const all = [...hours].map(([from, found]) => ({ from, to: from + HOUR, deliveries: found }));
  return all.sort((one, other) => other.from - one.from);
}

/** Of each payload, what became of it last. Takes and gives the newest first. */
function latest(deliveries: Delivery[]): Delivery[] {
  const seen = new Set<string>();
  return deliveries.filter(({ id, redeliveryOf }) => {
    const first = redeliveryOf ?? id;
    const isLatest = !seen.has(first);
    seen.add(first);
    return isLatest;
  });
}
