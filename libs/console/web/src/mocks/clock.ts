import type { Settings } from "./scenarios";

type Clock = Settings["clock"];

/** Which of the ways a clock goes. */
export function kindOf(clock: Clock): "now" | "at" | "offset" {
  if (!clock) return "now";
  return clock.offsetSeconds === undefined ? "at" : "offset";
}

/** A clock that goes one of the ways, to be set further. */
export function clockOf(kind: string, now = new Date()): Clock {
  if (kind === "now") return null;
  return kind === "at" ? { at: `${now.toISOString().slice(0, 19)}Z` } : { offsetSeconds: 0 };
}

/** The time of a `datetime-local` field, which leaves out seconds that are 0, as one of UTC. */
export function typedTime(typed: string): string {
  return typed.length === "2026-01-31T09:30".length ? `${typed}:00Z` : `${typed}Z`;
}
