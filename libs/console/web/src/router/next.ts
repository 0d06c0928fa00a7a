const KEY = "trapline.next";

/** Keeps where somebody wants to go, for this tab, while they sign in at another address. */
export function keepNext(path: string): void {
  sessionStorage.setItem(KEY, path);
}

/** Where somebody wanted to go before, who is told once. */
export function takeNext(): string | null {
  const path = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return path;
}
