/** What one of the next calls meets. */
export interface Next {
  fault?: string;
  decline?: string;
  delayMs?: number;
  times?: number;
  method?: string;
  path?: string;
}

interface WebhookSettings {
  enabled: boolean;
  events: string[];
  delayMs: number;
  jitterMs: number;
  duplicate: number;
  outOfOrder: boolean;
  dropRate: number;
  badSignature: boolean;
  staleBySeconds: number;
  retry: string;
}

/** What goes wrong with the calls of a mock, and how fast; a provider's own settings beside it, by their names. */
export interface Settings {
  latencyMs: number | { min: number; max: number };
  errorRate: number;
  errorKind: string;
  next: Next[];
  rateLimit: { perMinute: number } | null;
  decline: string | null;
  webhooks: WebhookSettings;
  clock: { at?: string; frozen?: boolean; offsetSeconds?: number } | null;
  seed: number | null;
}

/** A JSON merge patch (RFC 7396): null gives a setting its default again. */
export interface Patch {
  [name: string]: unknown;
}

/** How calls fail. */
export const FAULTS = [
  "server",
  "unavailable",
  "rate_limit",
  "unauthorized",
  "timeout",
  "reset",
  "malformed",
] as const;

/** A patch with one more change, at a path of names. */
export function changed(patch: Patch, [name = "", ...rest]: string[], value: unknown): Patch {
  if (rest.length === 0) return { ...patch, [name]: value };
  const below = patch[name];
  return { ...patch, [name]: changed(isObject(below) ? below : {}, rest, value) };
}

/** What a patch makes of settings, but for the defaults, which only the server knows. */
export function patched<T>(settings: T, patch: Patch): T {
  const result: Patch = { ...(settings as Patch) };
  for (const [name, value] of Object.entries(patch)) {
    const before = result[name];
    result[name] = isObject(value) && isObject(before) ? patched(before, value) : value;
  }
  return result as T;
}

/** The patch that gives every setting its default again. */
export function reset(settings: object): Patch {
  return Object.fromEntries(Object.keys(settings).map((name) => [name, null]));
}

/** What somebody typed as a number; null where nothing was typed. */
export function numberOf(typed: unknown): number | null {
  const text = String(typed ?? "").trim();
  return text === "" ? null : Number(text);
}

/** The latency between two bounds: one number where both are the same, the default where neither was typed. */
export function latency(min: number | null, max: number | null): Settings["latencyMs"] | null {
  if (min === null && max === null) return null;
  const [from, to] = [min ?? 0, max ?? min ?? 0];
  return from === to ? from : { min: from, max: to };
}

function isObject(value: unknown): value is Patch {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
