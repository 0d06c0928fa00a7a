import type { Schema } from "../api/client";

type Summary = Schema["MessageSummary"];

/** What the list is limited to. */
export interface Filter {
  q: string;
  unread: boolean;
}

/** Letters as the server compares them: in one form and one case. */
export function fold(text: string): string {
  return text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

/** Whether the API's search would find a message: subject, sender and recipients of header and envelope. */
export function matches(message: Summary, filter: Filter): boolean {
  if (filter.unread && message.isRead) return false;
  if (filter.q === "") return true;
  const { from, to, cc, bcc, envelope } = message;
  const people = [...(from ? [from] : []), ...to, ...cc, ...bcc];
  const texts = people.flatMap(({ name, address }) => [name, address, `${name} <${address}>`]);
  const wanted = fold(filter.q);
  return [message.subject, envelope.from, ...envelope.to, ...texts].some((text) =>
    fold(text).includes(wanted),
  );
}
