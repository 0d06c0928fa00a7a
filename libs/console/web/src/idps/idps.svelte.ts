import { api, body, type Schema } from "../api/client";
import { Feed } from "../api/feed.svelte";
import { Resource } from "../api/resource.svelte";

export type Idp = Schema["Idp"];
export type IdpUser = Schema["IdpUser"];
export type IdpFault = Schema["IdpFault"];
export type Scenario = Schema["IdpFaultScenario"];
export type Event = Schema["IdpEvent"];

/** Entries of the log that are fetched at once. */
const LISTED = 200;
/** Milliseconds by which an entry may be written later than a newer one, by another process. */
const LATE = 10_000;

const at = (id: string) => ({ params: { path: { id } } });

/** The team's identity providers. */
export class Idps {
  readonly list = new Resource(async (signal) => {
    const idps = await body(api.GET("/api/idps", { signal }));
    return idps.map(withoutSecret);
  });

  /** Makes one; its id. */
  async create(wanted: Schema["IdpInput"]): Promise<string> {
    return (await body(api.POST("/api/idps", { body: wanted }))).id;
  }
}

/** One identity provider, with its users and what it is asked to do wrong. */
export class OneIdp {
  readonly id: string;
  readonly fetched: Resource<Idp>;
  readonly users: Resource<IdpUser[]>;
  readonly faults: Resource<IdpFault[]>;

  constructor(id: string) {
    this.id = id;
    this.fetched = new Resource((signal) => body(api.GET("/api/idps/{id}", { ...at(id), signal })));
    this.users = new Resource((signal) =>
      body(api.GET("/api/idps/{id}/users", { ...at(id), signal })),
    );
    this.faults = new Resource((signal) =>
      body(api.GET("/api/idps/{id}/faults", { ...at(id), signal })),
    );
  }

  async change(change: Schema["IdpChange"]): Promise<void> {
    const changed = api.PATCH("/api/idps/{id}", { ...at(this.id), body: change });
    this.fetched.value = await body(changed);
  }

  async rotate(what: Schema["Rotated"]): Promise<void> {
    const rotated = api.POST("/api/idps/{id}/rotate", { ...at(this.id), body: { what } });
    this.fetched.value = await body(rotated);
  }

  async delete(): Promise<void> {
    await api.DELETE("/api/idps/{id}", at(this.id));
  }

  async addUser(wanted: Schema["IdpUserInput"]): Promise<void> {
    const made = await body(api.POST("/api/idps/{id}/users", { ...at(this.id), body: wanted }));
    this.users.value = [...(this.users.value ?? []), made];
  }

  async changeUser(userId: string, change: Schema["IdpUserChange"]): Promise<void> {
    const params = { path: { id: this.id, userId } };
    const answer = api.PATCH("/api/idps/{id}/users/{userId}", { params, body: change });
    const changed = await body(answer);
    this.users.value = this.users.value?.map((user) => (user.id === userId ? changed : user));
  }

  async deleteUser(userId: string): Promise<void> {
    const params = { path: { id: this.id, userId } };
    await api.DELETE("/api/idps/{id}/users/{userId}", { params });
    this.users.value = this.users.value?.filter(({ id }) => id !== userId);
    // It may be the one who was signed in without being asked.
    void this.fetched.reload();
  }

  async arm(wanted: Schema["IdpFaultInput"]): Promise<void> {
    const armed = await body(api.POST("/api/idps/{id}/faults", { ...at(this.id), body: wanted }));
    this.faults.value = [...(this.faults.value ?? []), armed];
  }

  async disarm(faultId: string): Promise<void> {
    const params = { path: { id: this.id, faultId } };
    await api.DELETE("/api/idps/{id}/faults/{faultId}", { params });
    this.faults.value = this.faults.value?.filter(({ id }) => id !== faultId);
  }

  async disarmAll(): Promise<void> {
    await api.DELETE("/api/idps/{id}/faults", at(this.id));
    this.faults.value = [];
  }
}

/** What happened at a provider. */
export class Activity extends Feed<Event> {
  readonly #id: string;

  constructor(id: string) {
    const fetch = (query: { after?: string; before?: string }, signal?: AbortSignal) => {
      const params = { path: { id }, query: { limit: LISTED, ...query } };
      return body(api.GET("/api/idps/{id}/events", { params, ...(signal && { signal }) }));
    };
    super({
      newest: (signal) => fetch({}, signal),
      since: ({ at }) => fetch({ after: new Date(Date.parse(at) - LATE).toISOString() }),
      older: async (known) => {
        const last = known.at(-1);
        return last && known.length >= LISTED ? fetch({ before: last.id }) : [];
      },
    });
    this.#id = id;
  }

  async clear(): Promise<void> {
    await api.DELETE("/api/idps/{id}/events", at(this.#id));
    await this.all.reload();
  }
}

/** What was refused last, if that is among the newest entries. */
export function refusedLast(id: string): Resource<Event | undefined> {
  return new Resource(async (signal) => {
    const events = await body(api.GET("/api/idps/{id}/events", { ...at(id), signal }));
    return events.find(({ error }) => error !== null);
  });
}

/** All that a provider can be asked to do wrong. */
export function scenarios(): Resource<Scenario[]> {
  return new Resource((signal) => body(api.GET("/api/idp-faults", { signal })));
}

/** Lists show no secrets. */
function withoutSecret(idp: Idp): Idp {
  const kept = { ...idp };
  delete kept.clientSecret;
  return kept;
}
