import type { Attempt } from "../api/attempt.svelte";
import type { Provider } from "./mocks.svelte";
import { changed, type Patch, patched, type Settings } from "./scenarios";

/** Settings of a mock while somebody changes them: what is saved, and the patch of what is not yet. */
export class Edit {
  patch = $state.raw<Patch>({});
  readonly isChanged = $derived(Object.keys(this.patch).length > 0);
  readonly #saved: () => Settings;
  readonly now = $derived.by(() => patched(this.#saved(), this.patch));

  constructor(saved: () => Settings) {
    this.#saved = saved;
  }

  set(path: string[], value: unknown): void {
    this.patch = changed(this.patch, path, value);
  }

  clear(): void {
    this.patch = {};
  }
}

/** What the fields of a part of the settings are given. */
export interface Fields {
  edit: Edit;
  attempt: Attempt;
  provider: Provider | undefined;
  may: boolean;
}
