import { now } from "./now.svelte";
import { preferences } from "./preferences.svelte";

const UNITS = ["kB", "MB", "GB"];
/** Characters that show nothing, or turn around what is beside them (UAX 9). */
const UNSEEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u2069\ufeff]/g;

/** Bytes for people: `812 B`, `3.2 MB`. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  let [value, unit] = [bytes / 1_000, 0];
  while (value >= 999.5 && unit < UNITS.length - 1) [value, unit] = [value / 1_000, unit + 1];
  return `${value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

const formats = { local: formatsIn(undefined), utc: formatsIn("UTC") };
const since = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
/** Seconds of what relative times count in. */
const STEPS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

function formatsIn(timeZone: string | undefined) {
  const of = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(undefined, { ...options, timeZone });
  return {
    clock: of({ hour: "2-digit", minute: "2-digit" }),
    day: of({ day: "numeric", month: "short" }),
    exact: of({ dateStyle: "medium", timeStyle: "medium" }),
    date: of({ dateStyle: "short" }),
    second: of({ timeStyle: "medium" }),
  };
}

/** A time in a list, as this browser's preferences have it: the time of day today, else the day; or how
 * long ago it was. */
export function shortTime(iso: string, today = Date.now()): string {
  const time = new Date(iso);
  if (preferences.get("times") === "relative") return relative(time.getTime() - now.current);
  const { clock, day, date } = formats[preferences.get("zone")];
  return date.format(time) === date.format(today) ? clock.format(time) : day.format(time);
}

/** A span of milliseconds from now, in the past or to come: "5 min. ago". */
export function relative(span: number): string {
  const seconds = Math.trunc(span / 1_000);
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return since.format(unit === "second" ? 0 : Math.trunc(seconds / size), unit);
}

/** A time to the second. */
export function fullTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const zone = preferences.get("zone");
  const shown = formats[zone].exact.format(time);
  return zone === "utc" ? `${shown} UTC` : shown;
}

/** A time of day to the second. */
export function timeOfDay(time: Date): string {
  return formats[preferences.get("zone")].second.format(time);
}

/** A text from a mail in which nothing is unseen: such characters stand as their code points. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** Milliseconds as a time to wait: `28 s`, `4 min 5 s`, `3 h 59 min`. */
export function wait(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)];
  if (minutes === 0) return `${seconds} s`;
  return hours === 0 ? `${minutes} min ${seconds % 60} s` : `${hours} h ${minutes % 60} min`;
}

/** A moment of today as its time of day, else with its day. */
export function timeOfHour(moment: number, today = Date.now()): string {
  const { clock, day, date } = formats[preferences.get("zone")];
  const isToday = date.format(moment) === date.format(today);
  return isToday ? clock.format(moment) : `${day.format(moment)}, ${clock.format(moment)}`;
}
