import type { Schema } from "../api/client";
import { has, recipients, senders } from "../lib/words";
import { type Filter, times } from "./search";

type Summary = Schema["MessageSummary"];

/** Whether the API would list a message under a filter: it looks for words in the subject, and in senders
 * and recipients of header and envelope. */
export function matches(message: Summary, filter: Filter): boolean {
  if (filter.unread && message.isRead) return false;
  if (filter.attachment && message.attachmentCount === 0) return false;
  const { since, until } = times(filter);
  if (since !== undefined && message.receivedAt < since) return false;
  if (until !== undefined && message.receivedAt > until) return false;
  const { subject } = message;
  const [from, to] = [senders(message), recipients(message)];
  return (
    has(to, filter.to) &&
    has(from, filter.from) &&
    has([subject], filter.subject) &&
    has([subject, ...from, ...to], filter.q)
  );
}
