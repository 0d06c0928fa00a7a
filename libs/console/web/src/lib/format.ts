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

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time in a list: the time of day today, else the day. */
export function shortTime(iso: string, now = new Date()): string {
  const time = new Date(iso);
  return time.toDateString() === now.toDateString() ? clock.format(time) : day.format(time);
}

/** A time to the second. */
export function fullTime(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : exact.format(time);
}

/** A time of day to the second. */
export function timeOfDay(time: Date): string {
  return time.toLocaleTimeString();
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
export function timeOfHour(moment: number, now = new Date()): string {
  const time = new Date(moment);
  const isToday = time.toDateString() === now.toDateString();
  return isToday ? clock.format(time) : `${day.format(time)}, ${clock.format(time)}`;
}
