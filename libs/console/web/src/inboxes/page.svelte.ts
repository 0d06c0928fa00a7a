import { api, body } from "../api/client";
import { type ApiError, shown } from "../api/error";
import { type Inbox, inboxes } from "../api/inboxes.svelte";

/** Inboxes that are fetched at once. */
export const PAGE = 200;

export interface Filter {
  q: string;
  kind: "all" | "lasting" | "disposable";
  project: string;
}

/** The query of the API for a filter. */
export function queryOf({ q, kind, project }: Filter) {
  return {
    limit: PAGE,
    ...(q && { q }),
    ...(project && { projectId: project }),
    ...(kind !== "all" && { disposable: kind === "disposable" }),
  };
}

/** All inboxes that a filter leaves, of which there may be many: page by page, oldest first. */
export class Found {
  list = $state.raw<Inbox[] | undefined>();
  /** How many there are on all pages. */
  total = $state(0);
  error = $state.raw<ApiError | undefined>();
  loading = $state(false);
  #asked = new AbortController();

  /** Fetches the first page; what is asked for already is given up. */
  async reload(filter: Filter): Promise<void> {
    this.#asked.abort();
    this.#asked = new AbortController();
    await this.#fetch(filter, undefined);
  }

  /** Fetches the page after those that are there. */
  async more(filter: Filter): Promise<void> {
    if (!this.loading) await this.#fetch(filter, this.list?.at(-1)?.id);
  }

  /** Deletes one; it is also taken out of the sidebar. One that is gone already counts as deleted. */
  async delete(id: string): Promise<void> {
    try {
      await api.DELETE("/api/inboxes/{id}", { params: { path: { id } } });
    } catch (failure) {
      if (shown(failure)?.status !== 404) throw failure;
    }
    inboxes.drop(id);
    this.list = this.list?.filter((inbox) => inbox.id !== id);
    this.total--;
  }

  /** The ids of all that match now; what comes later is not among them. */
  async everything(filter: Filter): Promise<string[]> {
    const { signal } = this.#asked;
    const ids: string[] = [];
    for (;;) {
      const after = ids.at(-1);
      const query = { ...queryOf(filter), ...(after && { after }) };
      const page = await body(api.GET("/api/inboxes", { params: { query }, signal }));
      ids.push(...page.map(({ id }) => id));
      if (page.length < PAGE) return ids;
    }
  }

  close(): void {
    this.#asked.abort();
  }

  async #fetch(filter: Filter, after: string | undefined): Promise<void> {
    const { signal } = this.#asked;
    const query = { ...queryOf(filter), ...(after && { after }) };
    this.loading = true;
    try {
      const answer = await api.GET("/api/inboxes", { params: { query }, signal });
      if (signal.aborted) return;
      const before = after === undefined ? [] : (this.list ?? []);
      this.list = [...before, ...(answer.data ?? [])];
      this.total = Number(answer.response.headers.get("x-total-count") ?? 0);
      this.error = undefined;
    } catch (failure) {
      if (signal.aborted) return;
      this.error = shown(failure);
    }
    this.loading = false;
  }
}

/** Makes a project, gives one another name, and deletes one; the sidebar follows. */
export const projects = {
  async create(name: string): Promise<void> {
    await body(api.POST("/api/projects", { body: { name } }));
    await inboxes.known.reload();
  },
  async rename(id: string, name: string): Promise<void> {
    await api.PATCH("/api/projects/{id}", { params: { path: { id } }, body: { name } });
    await inboxes.known.reload();
  },
  async delete(id: string): Promise<void> {
    await api.DELETE("/api/projects/{id}", { params: { path: { id } } });
    await inboxes.known.reload();
  },
};
