/** What the list is limited to. */
export interface Filter {
  /** Words of subject, sender or recipients. */
  q: string;
  to: string;
  from: string;
  subject: string;
  unread: boolean;
  attachment: boolean;
  /** Days as `2026-01-31`, from whose beginning on, or before whose beginning, a message was received. */
  after: string;
  before: string;
}

export const NOTHING: Filter = {
  q: "",
  to: "",
  from: "",
  subject: "",
  unread: false,
  attachment: false,
  after: "",
  before: "",
};

/** The longest text that the API looks for. */
const LONGEST = 200;
const TOKENS = /(\w+):("[^"]*"?|\S+)|"[^"]*"?|\S+/g;

/** What somebody typed: words, and `to:`, `from:`, `subject:`, `is:unread`, `has:attachment`, `after:` and
 * `before:` with what follows; quotation marks hold words together. */
export function parse(typed: string): Filter {
  const filter = { ...NOTHING };
  const words: string[] = [];
  for (const [token, name, value] of typed.matchAll(TOKENS)) {
    const text = (value ?? "").replaceAll('"', "").trim().slice(0, LONGEST);
    if (name !== undefined && take(filter, name.toLowerCase(), text)) continue;
    words.push(token.startsWith('"') ? token.replaceAll('"', "").trim() : token);
  }
  return { ...filter, q: words.filter(Boolean).join(" ").slice(0, LONGEST) };
}

/** Whether it was an operator; the filter has it then. */
function take(filter: Filter, name: string, value: string): boolean {
  switch (name) {
    case "to":
    case "from":
    case "subject":
      filter[name] = value;
      return value !== "";
    case "after":
    case "before":
      if (!isDay(value)) return false;
      filter[name] = value;
      return true;
    case "is":
      if (value !== "unread") return false;
      return (filter.unread = true);
    case "has":
      if (!/^attachments?$/.test(value)) return false;
      return (filter.attachment = true);
    default:
      return false;
  }
}

function isDay(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const day = new Date(`${value}T00:00`);
  return !Number.isNaN(day.getTime()) && day.getDate() === Number(value.slice(8));
}

/** A filter as parameters of the page's URL; null takes one away. */
export function toUrl(filter: Filter): Record<keyof Filter, string | null> {
  const { unread, attachment, ...texts } = filter;
  return { ...texts, unread: unread ? "true" : null, attachment: attachment ? "true" : null };
}

/** The filter that a URL names. What is none is left out. */
export function fromUrl(query: URLSearchParams): Filter {
  const text = (name: string) => (query.get(name) ?? "").trim().slice(0, LONGEST);
  const day = (name: string) => (isDay(text(name)) ? text(name) : "");
  return {
    q: text("q"),
    to: text("to"),
    from: text("from"),
    subject: text("subject"),
    unread: query.get("unread") === "true",
    attachment: query.get("attachment") === "true",
    after: day("after"),
    before: day("before"),
  };
}

/** The same as the API's parameters. */
export function toApi(filter: Filter) {
  const { q, to, from, subject, unread, attachment, after, before } = filter;
  const { since, until } = times(filter);
  return {
    ...(q && { q }),
    ...(to && { to }),
    ...(from && { from }),
    ...(subject && { subject }),
    ...(unread && { unread }),
    ...(attachment && { hasAttachment: true }),
    ...(after && { since }),
    ...(before && { until }),
  };
}

/** The first and the last moment that a filter leaves. Days are those of whoever looks. */
export function times({ after, before }: Filter): { since?: string; until?: string } {
  const start = (day: string) => new Date(`${day}T00:00`).getTime();
  return {
    ...(after && { since: new Date(start(after)).toISOString() }),
    ...(before && { until: new Date(start(before) - 1).toISOString() }),
  };
}

export function isSame(one: Filter, other: Filter): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether a filter leaves everything in the list. */
export function isNothing(filter: Filter): boolean {
  return isSame(filter, NOTHING);
}
