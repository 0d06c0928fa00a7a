import { Attempt } from "../api/attempt.svelte";
import { api, body, type Schema } from "../api/client";
import { isVerified, ways, type Ways } from "../api/forwarding";
import { Resource } from "../api/resource.svelte";
import { has, recipients, senders } from "../lib/words";

type Summary = Schema["MessageSummary"];

/** The latest messages that a rule is held against. */
const RECENT = 50;

interface Known {
  ways: Ways;
  rule: Schema["Forwarding"];
  recent: Summary[];
}

/** What mail must contain to be forwarded; what is empty takes any. */
export interface Parts {
  from: string;
  to: string;
  subject: string;
}

/** What an inbox does with mail that arrives: as it is, and as somebody wants it. */
export class AutomaticForwarding extends Attempt {
  readonly known = new Resource<Known>((signal) => this.#load(signal));
  /** What was changed and is not saved yet. */
  enabled = $state<boolean | undefined>();
  to = $state.raw<ReadonlySet<string> | undefined>();
  parts = $state.raw<Parts | undefined>();
  readonly #path: { id: string };

  constructor(inbox: string) {
    super();
    this.#path = { id: inbox };
  }

  readonly isEnabled = $derived(this.enabled ?? this.known.value?.rule.enabled ?? false);
  readonly recipients: ReadonlySet<string> = $derived(
    this.to ?? new Set(this.known.value?.rule.to),
  );
  readonly wanted: Parts = $derived(this.parts ?? partsOf(this.known.value?.rule));
  readonly verified = $derived(this.known.value?.ways.addresses.filter(isVerified) ?? []);
  readonly isChanged = $derived([this.enabled, this.to, this.parts].some((it) => it !== undefined));

  toggle(email: string): void {
    const to = new Set(this.recipients);
    if (!to.delete(email)) to.add(email);
    this.to = to;
  }

  /** Whether that went well. */
  save(): Promise<boolean> {
    return this.run(async () => {
      const given = Object.entries(this.wanted).filter(([, words]) => words !== "");
      const rule = {
        enabled: this.isEnabled,
        to: [...this.recipients],
        match: given.length === 0 ? null : Object.fromEntries(given),
      };
      const params = { path: this.#path };
      const saved = await body(api.PUT("/api/inboxes/{id}/forwarding", { params, body: rule }));
      if (this.known.value) this.known.value = { ...this.known.value, rule: saved };
      this.enabled = this.to = this.parts = undefined;
    });
  }

  async #load(signal: AbortSignal): Promise<Known> {
    const path = this.#path;
    const listed = { path, query: { limit: RECENT } };
    const [known, rule, page] = await Promise.all([
      ways(signal),
      body(api.GET("/api/inboxes/{id}/forwarding", { params: { path }, signal })),
      body(api.GET("/api/inboxes/{id}/messages", { params: listed, signal })),
    ]);
    return { ways: known, rule, recent: page.messages };
  }
}

/** How many of these the server would have forwarded. */
export function matching(messages: Summary[], { from, to, subject }: Parts): number {
  const matches = (message: Summary) =>
    has(senders(message), from) && has(recipients(message), to) && has([message.subject], subject);
  return messages.filter(matches).length;
}

function partsOf(rule: Schema["Forwarding"] | undefined): Parts {
  const { from = "", to = "", subject = "" } = rule?.match ?? {};
  return { from, to, subject };
}
