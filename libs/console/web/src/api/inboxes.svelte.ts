import { api, body, type Schema } from "./client";
import { Resource } from "./resource.svelte";

export type Inbox = Schema["Inbox"];
export type Project = Schema["Project"];

/** Disposable inboxes that the sidebar names; a team may have many thousands. */
const DISPOSABLE = 100;
/** Inboxes whose counts one stream tells beside its own. */
const COUNTED = 100;
const LAST = "trapline.inbox";

interface Known {
  projects: Project[];
  lasting: Inbox[];
  disposable: Inbox[];
  /** How many disposable ones there are in all. */
  disposableTotal: number;
}

/** The projects and inboxes of the team. */
class Inboxes {
  readonly known = new Resource<Known>(async (signal) => {
    const list = (disposable: boolean, limit?: number) =>
      api.GET("/api/inboxes", {
        params: { query: { disposable, ...(limit && { limit }) } },
        signal,
      });
    const [projects, lasting, disposable] = await Promise.all([
      body(api.GET("/api/projects", { params: { query: {} }, signal })),
      body(list(false)),
      list(true, DISPOSABLE),
    ]);
    const total = Number(disposable.response.headers.get("x-total-count") ?? 0);
    return { projects, lasting, disposable: disposable.data ?? [], disposableTotal: total };
  });

  get all(): Inbox[] {
    const known = this.known.value;
    return known ? [...known.lasting, ...known.disposable] : [];
  }

  get(id: string): Inbox | undefined {
    return this.all.find((inbox) => inbox.id === id);
  }

  /** Ids of the inboxes, but for one, whose counts its stream can tell: those that are there still, lasting
   * ones first. */
  countedBeside(id: string): string[] {
    const now = Date.now();
    const lives = (other: Inbox) =>
      other.id !== id && (other.expiresAt === null || Date.parse(other.expiresAt) > now);
    return this.all
      .filter(lives)
      .slice(0, COUNTED)
      .map((other) => other.id);
  }

  /** An inbox by itself, which may be beyond those that are listed. */
  async load(id: string, signal?: AbortSignal): Promise<Inbox> {
    const params = { path: { id } };
    const inbox = await body(api.GET("/api/inboxes/{id}", { params, ...(signal && { signal }) }));
    this.put(inbox);
    return inbox;
  }

  /** Takes over what the API says of an inbox now. */
  put(inbox: Inbox): void {
    const known = this.known.value;
    if (!known) return;
    const isNew = !this.get(inbox.id);
    const place = inbox.expiresAt === null ? "lasting" : "disposable";
    const others = (list: Inbox[]) => list.filter((other) => other.id !== inbox.id);
    const same = (list: Inbox[]) => list.map((other) => (other.id === inbox.id ? inbox : other));
    const stays = known[place].some((other) => other.id === inbox.id);
    const lists = { lasting: known.lasting, disposable: known.disposable };
    if (stays) lists[place] = same(lists[place]);
    else {
      lists.lasting = others(lists.lasting);
      lists.disposable = others(lists.disposable);
      lists[place] = [...lists[place], inbox];
    }
    const added = isNew && place === "disposable" ? 1 : 0;
    this.known.value = {
      ...known,
      ...lists,
      disposableTotal: known.disposableTotal + added,
    };
  }

  /** Takes over the counts of an inbox that is listed. One that was dropped does not come back by this. */
  recount(inbox: Inbox): void {
    if (this.get(inbox.id)) this.put(inbox);
  }

  /** Forgets an inbox that is gone. */
  drop(id: string): void {
    const known = this.known.value;
    if (!known) return;
    const kept = (list: Inbox[]) => list.filter((inbox) => inbox.id !== id);
    const disposable = kept(known.disposable);
    const gone = known.disposable.length - disposable.length;
    this.known.value = {
      ...known,
      lasting: kept(known.lasting),
      disposable,
      disposableTotal: known.disposableTotal - gone,
    };
  }

  /** Forgets all: nobody is signed in. */
  clear(): void {
    this.known.close();
    this.known.value = undefined;
  }

  /** Begins anew: requests act for another team now. */
  forget(): void {
    this.clear();
    void this.known.reload();
  }

  /** The inbox that this browser had open last, if it is still there, else the first one. */
  first(): Inbox | undefined {
    return this.get(localStorage.getItem(LAST) ?? "") ?? this.all[0];
  }

  opened(id: string): void {
    localStorage.setItem(LAST, id);
  }
}

export const inboxes = new Inboxes();
