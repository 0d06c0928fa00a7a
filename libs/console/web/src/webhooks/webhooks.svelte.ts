import { api, body, type Schema } from "../api/client";
import { Resource } from "../api/resource.svelte";

export type Webhook = Schema["Webhook"];
export type Delivery = Schema["Delivery"];

/** Deliveries that are listed: all that the log has of one webhook. */
export const LISTED = 200;

const at = (id: string) => ({ params: { path: { id } } });

/** The team's webhooks. */
export class Webhooks {
  readonly list = new Resource(async (signal) => {
    const webhooks = await body(api.GET("/api/webhooks", { signal }));
    return webhooks.map(withoutSecret);
  });

  /** Makes a webhook; its secret. */
  async create(wanted: Schema["WebhookInput"]): Promise<string | undefined> {
    const { secret } = await body(api.POST("/api/webhooks", { body: wanted }));
    void this.list.reload();
    return secret;
  }

  async change(id: string, change: Schema["WebhookChange"]): Promise<void> {
    const changed = await body(api.PATCH("/api/webhooks/{id}", { ...at(id), body: change }));
    this.#put(withoutSecret(changed));
  }

  /** Enables it or not: shown at once, and taken back where it fails. */
  async enable(webhook: Webhook, enabled: boolean): Promise<void> {
    this.#put({ ...webhook, enabled });
    try {
      await this.change(webhook.id, { enabled });
    } catch (failure) {
      this.#put(webhook);
      throw failure;
    }
  }

  async delete(id: string): Promise<void> {
    await api.DELETE("/api/webhooks/{id}", at(id));
    this.list.value = this.list.value?.filter((webhook) => webhook.id !== id);
  }

  #put(changed: Webhook): void {
    this.list.value = this.list.value?.map((one) => (one.id === changed.id ? changed : one));
  }
}

/** One webhook and the log of its deliveries, newest first. */
export class Log {
  readonly id: string;
  readonly webhook: Resource<Webhook>;
  readonly deliveries: Resource<Delivery[]>;

  constructor(id: string) {
    this.id = id;
    this.webhook = new Resource(async (signal) =>
      withoutSecret(await body(api.GET("/api/webhooks/{id}", { ...at(id), signal }))),
    );
    const params = { path: { id }, query: { limit: LISTED } };
    this.deliveries = new Resource((signal) =>
      body(api.GET("/api/webhooks/{id}/deliveries", { params, signal })),
    );
  }

  /** Sends a delivery's payload again, as one of its own. */
  async redeliver(deliveryId: string): Promise<void> {
    const params = { path: { id: this.id, deliveryId } };
    const again = await body(api.POST("/api/webhooks/{id}/deliveries/{deliveryId}", { params }));
    const known = this.deliveries.value ?? [];
    this.deliveries.value = [again, ...known.filter(({ id }) => id !== again.id)];
  }
}

/** Calls the webhook once, now, and tells how it went. */
export function test(id: string): Promise<Delivery> {
  return body(api.POST("/api/webhooks/{id}/test", at(id)));
}

/** The key that deliveries are signed with; none for those who may only read. */
export async function secretOf(id: string): Promise<string | undefined> {
  return (await body(api.GET("/api/webhooks/{id}", at(id)))).secret;
}

/** The message that a delivery tells of; none where it is gone. */
export function messageOf(id: string): Promise<Schema["Message"] | undefined> {
  return body(api.GET("/api/messages/{id}", at(id))).catch(() => undefined);
}

/** Secrets are fetched when somebody wants to see them, and are nowhere else. */
function withoutSecret(webhook: Webhook): Webhook {
  const kept = { ...webhook };
  delete kept.secret;
  return kept;
}
