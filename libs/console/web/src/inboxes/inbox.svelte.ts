import { api, body, type Schema } from "../api/client";
import { type Inbox, inboxes } from "../api/inboxes.svelte";
import { Resource } from "../api/resource.svelte";

/** One inbox, and what may be done with it as a whole. */
export class OneInbox {
  readonly id: string;
  readonly fetched: Resource<Inbox>;

  constructor(id: string) {
    this.id = id;
    this.fetched = new Resource((signal) => inboxes.load(id, signal));
  }

  get value(): Inbox | undefined {
    return inboxes.get(this.id) ?? this.fetched.value;
  }

  /** New SMTP credentials; the old ones stop working at once. */
  async rotate(): Promise<void> {
    const params = { path: { id: this.id } };
    this.#take(await body(api.POST("/api/inboxes/{id}/credentials", { params })));
  }

  async change(change: Schema["InboxChange"]): Promise<void> {
    const params = { path: { id: this.id } };
    this.#take(await body(api.PATCH("/api/inboxes/{id}", { params, body: change })));
  }

  async delete(): Promise<void> {
    await api.DELETE("/api/inboxes/{id}", { params: { path: { id: this.id } } });
    inboxes.drop(this.id);
  }

  #take(inbox: Inbox): void {
    this.fetched.value = inbox;
    inboxes.put(inbox);
  }
}
