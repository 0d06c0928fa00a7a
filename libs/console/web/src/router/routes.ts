/** Every screen with a URL. A new area is a line here, a folder, and a line in the sidebar. */
export const routes = {
  home: "/",
  inbox: "/inboxes/:id",
  connect: "/inboxes/:id/connect",
  settings: "/inboxes/:id/settings",
  signIn: "/sign-in",
} as const;

export type Name = keyof typeof routes;

export interface Match {
  name: Name;
  params: Record<string, string>;
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
  const here = path.host === "here.invalid" && known !== undefined && known.name !== "signIn";
  return here ? path.pathname + path.search : "/";
}
