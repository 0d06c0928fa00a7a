import { api, body, type Schema } from "../api/client";
import { Feed } from "../api/feed.svelte";
import { Resource } from "../api/resource.svelte";
import type { Patch, Settings } from "./scenarios";

export type Mock = Schema["ApiMock"];
export type Provider = Schema["MockProvider"];
export type CallSummary = Schema["MockCallSummary"];
export type Call = Schema["MockCallDetails"];
export type Delivery = Schema["MockDelivery"];
export type Stored = Schema["MockObject"];

/** Entries of a log that are fetched at once. */
const LISTED = 200;
/** Those that a look fetches, for mostly few have come. */
const FEW = 30;

const at = (id: string) => ({ params: { path: { id } } });

/** All that a mock can be made of. */
export function providers(): Resource<Provider[]> {
  return new Resource((signal) => body(api.GET("/api/mocks/providers", { signal })));
}

/** The team's mocks. */
export function mocks(): Resource<Mock[]> {
  return new Resource((signal) => body(api.GET("/api/mocks", { params: {}, signal })));
}

/** Makes one; its id. */
export async function create(wanted: Schema["MockInput"]): Promise<string> {
  return (await body(api.POST("/api/mocks", { body: wanted }))).id;
}

/** A mock and the provider that it stands in for, which the server's table has. */
export interface Known {
  name: string;
  mock: Mock;
  provider: Provider | undefined;
}

/** One mock. */
export class OneMock {
  readonly id: string;
  readonly fetched: Resource<Known>;

  constructor(id: string) {
    this.id = id;
    this.fetched = new Resource(async (signal) => {
      const [mock, all] = await Promise.all([
        body(api.GET("/api/mocks/{id}", { ...at(id), signal })),
        body(api.GET("/api/mocks/providers", { signal })),
      ]);
      const provider = all.find((one) => one.id === mock.provider);
      return { name: mock.name, mock, provider };
    });
  }

  async change(change: Schema["MockChange"]): Promise<void> {
    const answer = api.PATCH("/api/mocks/{id}", { ...at(this.id), body: change });
    this.#take(await body(answer));
  }

  async set(settings: Patch): Promise<void> {
    await this.change({ settings });
  }

  async rotate(credential: string): Promise<void> {
    const answer = api.POST("/api/mocks/{id}/rotate", { ...at(this.id), body: { credential } });
    this.#take(await body(answer));
  }

  async clear(): Promise<void> {
    await api.DELETE("/api/mocks/{id}/calls", at(this.id));
  }

  async delete(): Promise<void> {
    await api.DELETE("/api/mocks/{id}", at(this.id));
  }

  /** Answers to changes have neither credentials nor snippets where these did not change. */
  #take(changed: Mock): void {
    const known = this.fetched.value;
    if (!known) return;
    const mock = { ...known.mock, ...changed };
    this.fetched.value = { ...known, name: mock.name, mock };
  }
}

/** The settings of a mock, of which the document says no more than that they are an object. */
export function settingsOf(mock: Mock): Settings {
  return mock.settings as unknown as Settings;
}

/** What a mock was asked: all of it, or what read or wrote one object. */
export function calls(id: string, objectId: string | null): Feed<CallSummary> {
  const fetch = async (page: number, limit: number, signal?: AbortSignal) => {
    const query = { page, limit, ...(objectId !== null && { objectId }) };
    const params = { path: { id }, query };
    const answer = api.GET("/api/mocks/{id}/calls", { params, ...(signal && { signal }) });
    return (await body(answer)).calls;
  };
  return new Feed({
    newest: (signal) => fetch(1, LISTED, signal),
    since: async (newest) => {
      const few = await fetch(1, FEW);
      return few.every((call) => call.id > newest.id) ? fetch(1, LISTED) : few;
    },
    older: async (known) => {
      if (known.length < LISTED) return [];
      return fetch(Math.floor(known.length / LISTED) + 1, LISTED);
    },
  });
}

export function call(id: string, callId: string): Resource<Call> {
  const params = { path: { id, callId } };
  return new Resource((signal) =>
    body(api.GET("/api/mocks/{id}/calls/{callId}", { params, signal })),
  );
}

/** What a mock sent. */
export function deliveries(id: string, objectId: string | null): Feed<Delivery> {
  const query = { limit: LISTED, ...(objectId !== null && { objectId }) };
  const params = { path: { id }, query };
  return new Feed({
    newest: (signal) =>
      body(api.GET("/api/mocks/{id}/webhooks", { params, ...(signal && { signal }) })),
  });
}

export function delivery(id: string, deliveryId: string) {
  const params = { path: { id, deliveryId } };
  return new Resource((signal) =>
    body(api.GET("/api/mocks/{id}/webhooks/{deliveryId}", { params, signal })),
  );
}

/** Sends the same bytes again, freshly signed. */
export async function replay(id: string, deliveryId: string): Promise<void> {
  const params = { path: { id, deliveryId } };
  await api.POST("/api/mocks/{id}/webhooks/{deliveryId}/replay", { params });
}

/** What a mock keeps, of one kind or of all. */
export function objects(id: string, kind: string | null): Resource<Stored[]> {
  const params = { path: { id }, query: { limit: LISTED, ...(kind !== null && { kind }) } };
  return new Resource((signal) => body(api.GET("/api/mocks/{id}/objects", { params, signal })));
}

/** Takes an object a step along its flow, as time or a person would. */
export async function move(id: string, objectId: string, to: string) {
  const params = { path: { id, objectId } };
  const path = "/api/mocks/{id}/objects/{objectId}/move";
  return body(api.POST(path, { params, body: { to } }));
}

/** Lets something come from outside. */
export async function trigger(id: string, wanted: Schema["MockTrigger"]) {
  return body(api.POST("/api/mocks/{id}/trigger", { ...at(id), body: wanted }));
}
