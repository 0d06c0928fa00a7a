/** Every screen with a URL. A new area is a line here, a folder, and a line in the sidebar. */
export const routes = {
  home: "/",
  inboxes: "/inboxes",
  projects: "/projects",
  inbox: "/inboxes/:id",
  connect: "/inboxes/:id/connect",
  settings: "/inboxes/:id/settings",
  webhooks: "/webhooks",
  webhook: "/webhooks/:id",
  forwarding: "/forwarding",
  idps: "/idps",
  idp: "/idps/:id/:part",
  mocks: "/mocks",
  newMock: "/mocks/new",
  mock: "/mocks/:id/:part",
  team: "/team/:part",
  account: "/account/:part",
  start: "/start",
  signIn: "/sign-in",
  signUp: "/sign-up",
  forgot: "/forgot",
  link: "/link",
  reset: "/reset",
  verify: "/verify",
  invite: "/invite",
  // Every component, while one works on the console.
  ...(import.meta.env.DEV ? ({ gallery: "/gallery" } as const) : {}),
} as const;

/** Screens for whoever is not signed in yet. */
const OUTSIDE = new Set<string>([
  "signIn",
  "signUp",
  "forgot",
  "link",
  "reset",
  "verify",
  "invite",
]);

export type Name = keyof typeof routes;

export interface Match {
  name: Name;
  params: Record<string, string>;
}

/** Whether a screen is there for whoever is not signed in, and has no sidebar. */
export function isOutside(name: Name): boolean {
  return OUTSIDE.has(name);
}

/** The screen at a path, if there is one. */
export function match(path: string): Match | undefined {
  const parts = split(path);
  for (const [name, pattern] of Object.entries(routes)) {
    const params = fit(split(pattern), parts);
    if (params) return { name: name as Name, params };
  }
  return undefined;
}

function split(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function fit(pattern: string[], parts: string[]): Record<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, wanted] of pattern.entries()) {
    const part = parts[index] ?? "";
    if (wanted.startsWith(":")) {
      // Ids have letters and digits only.
      if (!/^\w+$/.test(part)) return undefined;
      params[wanted.slice(1)] = part;
    } else if (wanted !== part) return undefined;
  }
  return params;
}

/** Where to go after signing in: a path of the console, and nothing else. */
export function safeNext(next: string | null): string {
  if (!next?.startsWith("/") || next.startsWith("//")) return "/";
  const path = new URL(next, "http://here.invalid");
  const known = match(path.pathname);
  const here = path.host === "here.invalid" && known !== undefined && !isOutside(known.name);
  return here ? path.pathname + path.search : "/";
}
