import { keys } from "../keys/keys.svelte";
import { looking } from "../lib/look";
import { text } from "../text/en";

/** Milliseconds between two looks at a log. */
export const LOOK = 3_000;

/** Looks at a log again and again while its component is there, and fetches it anew at `r`. */
export function refresh(look: () => void, reload: () => void = look): void {
  $effect(() => looking(LOOK, look));
  reloadKey(reload);
}

/** Fetches anew at `r` while a component is there. */
export function reloadKey(run: () => void): void {
  $effect(() => keys.add([{ keys: ["r"], label: text.keys.reload, run }]));
}
