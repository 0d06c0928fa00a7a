import { api, body, type Schema } from "../api/client";
import { inboxes } from "../api/inboxes.svelte";
import { Resource } from "../api/resource.svelte";
import { session } from "../api/session.svelte";
import { router } from "../router/router.svelte";

export type Member = Schema["Member"];
export type Invitation = Schema["Invitation"];
export type Key = Schema["ApiKey"];
export type Sso = Schema["SsoConnection"];
export type AssignableRole = Schema["AssignableRole"];

const of = (id: string) => ({ params: { path: { id } } });

/** The people of the team, and who is invited. */
export class People {
  readonly members = new Resource<Member[]>((signal) =>
    body(api.GET("/api/team/members", { signal })),
  );
  readonly invitations = new Resource<Invitation[]>((signal) =>
    body(api.GET("/api/team/invitations", { signal })),
  );

  async setRole(id: string, role: AssignableRole): Promise<void> {
    const member = await body(api.PATCH("/api/team/members/{id}", { ...of(id), body: { role } }));
    const others = this.members.value ?? [];
    this.members.value = others.map((other) => (other.id === id ? member : other));
    if (id === session.me?.person.id) await session.load();
  }

  /** Removes somebody; the keys that they made, which still work. */
  async remove(id: string): Promise<Key[]> {
    const left = await body(api.DELETE("/api/team/members/{id}", of(id)));
    this.members.value = this.members.value?.filter((other) => other.id !== id);
    return left.keys;
  }

  async handOver(personId: string): Promise<void> {
    this.members.value = await body(api.POST("/api/team/transfer", { body: { personId } }));
    await session.load();
  }

  /** Invites, or invites anew, which ends the link before. */
  async invite(email: string, role: AssignableRole): Promise<Invitation> {
    return body(api.POST("/api/team/invitations", { body: { email, role } }));
  }

  async takeBack(id: string): Promise<void> {
    await api.DELETE("/api/team/invitations/{id}", of(id));
    this.invitations.value = this.invitations.value?.filter((other) => other.id !== id);
  }
}

/** The team's API keys. */
export class Keys {
  readonly all = new Resource<Key[]>((signal) => body(api.GET("/api/api-keys", { signal })));

  /** Makes a key, and returns its value, which is shown once. */
  async make(name: string, access: Key["access"], days: number | undefined): Promise<string> {
    const wanted = { name, access, ...(days && { expiresInDays: days }) };
    const { key, ...made } = await body(api.POST("/api/api-keys", { body: wanted }));
    this.all.value = [made, ...(this.all.value ?? [])];
    return key;
  }

  async revoke(id: string): Promise<void> {
    await api.DELETE("/api/api-keys/{id}", of(id));
    this.all.value = this.all.value?.filter((key) => key.id !== id);
  }
}

export function usage(): Resource<Schema["Usage"]> {
  return new Resource((signal) => body(api.GET("/api/team/usage", { signal })));
}

export function audit(): Resource<Schema["AuditEntry"][]> {
  return new Resource((signal) => body(api.GET("/api/audit", { signal })));
}

/** The team's identity provider; there may be none. */
export class SingleSignOn {
  readonly now = new Resource<Sso | null>(async (signal) => {
    const { data, response } = await api.GET("/api/team/sso", { signal }).catch((failure) => {
      if (failure.status === 404) return { data: null, response: undefined };
      throw failure;
    });
    return response ? (data as Sso) : null;
  });

  async set(settings: Schema["SsoInput"]): Promise<void> {
    this.now.value = await body(api.PUT("/api/team/sso", { body: settings }));
  }

  async remove(): Promise<void> {
    await api.DELETE("/api/team/sso");
    this.now.value = null;
  }
}

export async function rename(name: string): Promise<void> {
  await api.PATCH("/api/team", { body: { name } });
  await session.load();
}

export async function leave(): Promise<void> {
  await api.POST("/api/team/leave");
  await elsewhere();
}

/** Deletes the team, whose name is said once more. */
export async function deleteTeam(name: string): Promise<void> {
  await api.DELETE("/api/team", { body: { name } });
  await elsewhere();
}

/** Goes on in another of the person's teams, or in none. */
async function elsewhere(): Promise<void> {
  await session.load();
  inboxes.forget();
  router.go("/", "replace");
}
