/** Who and what a message is of. */
interface Heading {
  subject: string;
  from: Person | null;
  to: Person[];
  cc: Person[];
  bcc: Person[];
  envelope: { from: string; to: string[] };
}

interface Person {
  name: string;
  address: string;
}

/** Letters as the server compares them: in one form and one case. */
export function fold(text: string): string {
  return text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

/** Whether one of these texts contains what is looked for, as the server finds it; nothing is in all. */
export function has(texts: string[], wanted: string): boolean {
  const folded = fold(wanted);
  return wanted === "" || texts.some((text) => fold(text).includes(folded));
}

/** Whom a message is from, by its header and its envelope. */
export function senders({ from, envelope }: Heading): string[] {
  return [...texts(from ? [from] : []), envelope.from];
}

/** Whom a message is to, by its header and its envelope. */
export function recipients({ to, cc, bcc, envelope }: Heading): string[] {
  return [...texts([...to, ...cc, ...bcc]), ...envelope.to];
}

function texts(people: Person[]): string[] {
  return people.flatMap(({ name, address }) => [name, address, `${name} <${address}>`]);
}
