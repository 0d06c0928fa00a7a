import type { Component } from "svelte";

import type { Name } from "./router/routes";

/** Fetches the file of a screen. */
export type Load = () => Promise<{ default: Component<{ id: string }> }>;

/** Screens that are fetched when they are opened first; `id` is that of the path. */
export const lazy: Partial<Record<Name, Load>> = {};
