import { api, body, type Schema } from "../api/client";
import { inboxes } from "../api/inboxes.svelte";
import { Resource } from "../api/resource.svelte";
import { session } from "../api/session.svelte";

export type OwnSession = Schema["OwnSession"];

/** One's sessions. */
export class Sessions {
  readonly all = new Resource<OwnSession[]>((signal) =>
    body(api.GET("/api/auth/sessions", { signal })),
  );

  async end(id: string): Promise<void> {
    await api.DELETE("/api/auth/sessions/{id}", { params: { path: { id } } });
    this.all.value = this.all.value?.filter((other) => other.id !== id);
  }

  async endOthers(): Promise<void> {
    await api.DELETE("/api/auth/sessions");
    this.all.value = this.all.value?.filter((other) => other.isCurrent);
  }
}

export async function changePassword(current: string, password: string): Promise<void> {
  session.take(await body(api.POST("/api/auth/password", { body: { current, password } })));
}

export async function rename(name: string): Promise<void> {
  session.take(await body(api.PATCH("/api/auth/me", { body: { name } })));
}

/** Sets the address and the password of an owner who came in without them. */
export async function setUp(email: string, password: string): Promise<void> {
  session.take(await body(api.POST("/api/auth/account", { body: { email, password } })));
}

/** Has a link sent, by which an address becomes one's own; where no mail is sent, the answer has it. */
export function changeEmail(email: string, password: string): Promise<Schema["EmailNotice"]> {
  return body(api.POST("/api/auth/email", { body: { email, password } }));
}

/** Sends a link by which one's address is confirmed. */
export async function verify(): Promise<void> {
  await api.POST("/api/auth/verify");
}

export async function switchTo(team: string): Promise<void> {
  await session.switchTo(team);
  inboxes.forget();
}
