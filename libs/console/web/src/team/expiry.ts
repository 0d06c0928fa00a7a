const DAY = 24 * 60 * 60 * 1_000;
/** Days before its end from which on a key is warned of. */
export const WARNED = 14;

/** Whole days until a time, 0 in the last of them; negative where it is over. */
export function daysUntil(iso: string, now = Date.now()): number {
  return Math.floor((new Date(iso).getTime() - now) / DAY);
}
