import type { Schema } from "../api/client";
import { type Filter, times } from "./search";

type Summary = Schema["MessageSummary"];

/** Letters as the server compares them: in one form and one case. */
export function fold(text: string): string {
  return text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

/** Whether the API would list a message under a filter: it looks for words in the subject, and in senders
 * and recipients of header and envelope. */
export function matches(message: Summary, filter: Filter): boolean {
  if (filter.unread && message.isRead) return false;
  if (filter.attachment && message.attachmentCount === 0) return false;
  const { since, until } = times(filter);
  if (since !== undefined && message.receivedAt < since) return false;
  if (until !== undefined && message.receivedAt > until) return false;
  const { from, to, cc, bcc, envelope, subject } = message;
  const senders = [...texts(from ? [from] : []), envelope.from];
  const recipients = [...texts([...to, ...cc, ...bcc]), ...envelope.to];
  return (
    has(recipients, filter.to) &&
    has(senders, filter.from) &&
    has([subject], filter.subject) &&
    has([subject, ...senders, ...recipients], filter.q)
  );
}

function texts(people: Schema["Address"][]): string[] {
  return people.flatMap(({ name, address }) => [name, address, `${name} <${address}>`]);
}

function has(texts: string[], wanted: string): boolean {
  const folded = fold(wanted);
  return wanted === "" || texts.some((text) => fold(text).includes(folded));
}
