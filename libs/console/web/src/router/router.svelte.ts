import { address, root } from "../lib/root";
import { match, type Match } from "./routes";

/** The URL, which is the state of the page. */
class Router {
  #url = $state.raw(new URL(location.href));

  /** The path below the console's root. */
  readonly path = $derived(inside(this.#url));
  readonly query = $derived(this.#url.searchParams);
  readonly match: Match | undefined = $derived(match(this.path));

  /** Follows the back button, and links of the console. Call once. */
  start(): void {
    addEventListener("popstate", () => (this.#url = new URL(location.href)));
    document.addEventListener("click", (event) => this.#click(event));
  }

  /** Goes to a path of the console. */
  go(path: string, how: "push" | "replace" = "push"): void {
    if (how === "push") history.pushState(null, "", address(path));
    else history.replaceState(null, "", address(path));
    this.#url = new URL(location.href);
  }

  /** Changes parameters of the query; null takes one away. */
  set(changes: Record<string, string | null>, how: "push" | "replace" = "replace"): void {
    const path = this.#with(changes);
    if (path !== this.path + this.#url.search) this.go(path, how);
  }

  /** The address of this page with other parameters; null takes one away. */
  address(changes: Record<string, string | null>): string {
    return address(this.#with(changes));
  }

  #with(changes: Record<string, string | null>): string {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === "") query.delete(name);
      else query.set(name, value);
    }
    const text = query.toString();
    return text === "" ? this.path : `${this.path}?${text}`;
  }

  /** A click on a link of the console changes the URL without a load. */
  #click(event: MouseEvent): void {
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!plain || event.altKey || event.defaultPrevented) return;
    const link = (event.target as Element | null)?.closest?.("a");
    if (!link || link.target !== "" || link.hasAttribute("download")) return;
    const url = new URL(link.href);
    if (url.origin !== root.origin || !url.pathname.startsWith(root.pathname)) return;
    const isWithin = url.hash !== "" && url.pathname === location.pathname;
    if (isWithin || !match(inside(url))) return;
    event.preventDefault();
    if (url.href !== this.#url.href) this.go(inside(url) + url.search);
  }
}

function inside(url: URL): string {
  return url.pathname.startsWith(root.pathname)
    ? url.pathname.slice(root.pathname.length - 1)
    : "/";
}

export const router = new Router();
