import { api, body } from "../api/client";
import { type Inbox, inboxes } from "../api/inboxes.svelte";
import { Resource } from "../api/resource.svelte";
import type { Binding } from "../keys/keymap";
import { fold } from "../lib/words";
import { router } from "../router/router.svelte";

/** Milliseconds between the last key and the search. */
const PAUSE = 150;
/** Inboxes that are offered at once. */
const MOST = 20;

/** What somebody can go to or do. */
export interface Entry {
  id: string;
  label: string;
  /** The keys that do the same. */
  keys: string[];
  run: () => void;
}

/** What the server found. */
interface Found {
  words: string;
  inboxes: Inbox[];
}

/** Inboxes and commands by words of their names. */
export class Palette {
  words = $state("");
  at = $state(0);
  readonly found = new Resource<Found>(async (signal) => {
    const words = this.words.trim();
    const query = { q: words, limit: MOST };
    const inboxes = await body(api.GET("/api/inboxes", { params: { query }, signal }));
    return { words: folded(words), inboxes };
  });
  readonly #bindings: Binding[];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(bindings: Binding[]) {
    this.#bindings = bindings;
  }

  readonly entries: Entry[] = $derived.by(() => {
    const words = folded(this.words);
    const found = words === "" ? inboxes.all.slice(0, MOST) : this.#foundBy(words);
    const commands = this.#bindings.map((binding, index) => entryOf(binding, index));
    const named = commands.filter(({ label }) => folded(label).includes(words));
    return [...found.map(entryOfInbox), ...named];
  });

  /** Until the answer is there, Enter must not lead to what was found by the words before. */
  #foundBy(words: string): Inbox[] {
    const found = this.found.value;
    if (!found || found.words === words) return found?.inboxes ?? [];
    return found.inboxes.filter(({ name }) => folded(name).includes(words));
  }

  type(words: string): void {
    this.words = words;
    this.at = 0;
    clearTimeout(this.#timer);
    if (words.trim() !== "") this.#timer = setTimeout(() => void this.found.reload(), PAUSE);
  }

  move(by: 1 | -1): void {
    const count = this.entries.length;
    if (count > 0) this.at = (this.at + by + count) % count;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.found.close();
  }
}

function folded(text: string): string {
  return fold(text.trim());
}

function entryOfInbox({ id, name }: Inbox): Entry {
  return { id, label: name, keys: [], run: () => router.go(`/inboxes/${id}`) };
}

function entryOf({ keys, label, run }: Binding, index: number): Entry {
  const key = keys[0]?.split(/[ +]/).at(-1) ?? "";
  const event = () => new KeyboardEvent("keydown", { key });
  return { id: `command-${index}`, label, keys, run: () => run(event()) };
}
