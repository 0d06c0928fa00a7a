import type { Component } from "svelte";

import type { Name } from "./router/routes";

/** A screen of its own, or of what the path names. */
type Screen = Component<Record<string, never>> | Component<{ id: string }>;

/** Fetches the file of a screen. */
export type Load = () => Promise<{ default: Screen }>;

const link: Load = () => import("./auth/LinkScreen.svelte");

/** For whoever is not signed in, at any path; and a dialog for whose session ended. */
export const signIn: Load = () => import("./auth/SignInScreen.svelte");
export const signInAgain: Load = () => import("./auth/SignInDialog.svelte");

/** Screens that are fetched when they are opened first. */
export const lazy: Partial<Record<Name, Load>> = {
  team: () => import("./team/TeamScreen.svelte"),
  account: () => import("./account/AccountScreen.svelte"),
  connect: () => import("./inboxes/ConnectScreen.svelte"),
  settings: () => import("./inboxes/SettingsScreen.svelte"),
  signUp: () => import("./auth/SignUpScreen.svelte"),
  forgot: () => import("./auth/ForgotScreen.svelte"),
  link,
  reset: link,
  verify: link,
  invite: link,
  inboxes: () => import("./inboxes/AllScreen.svelte"),
  projects: () => import("./inboxes/ProjectsScreen.svelte"),
  webhooks: () => import("./webhooks/WebhooksScreen.svelte"),
  webhook: () => import("./webhooks/DeliveriesScreen.svelte"),
  forwarding: () => import("./forwarding/ForwardingScreen.svelte"),
  idps: () => import("./idps/IdpsScreen.svelte"),
  idp: () => import("./idps/IdpScreen.svelte"),
  mocks: () => import("./mocks/MocksScreen.svelte"),
  newMock: () => import("./mocks/GalleryScreen.svelte"),
  mock: () => import("./mocks/MockScreen.svelte"),
  start: () => import("./start/StartScreen.svelte"),
  ...(import.meta.env.DEV && { gallery: () => import("./gallery/GalleryScreen.svelte") }),
};
