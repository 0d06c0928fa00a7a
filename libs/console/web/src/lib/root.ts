/** Where the console is, whatever path a proxy put before it: the folder above that of the scripts. */
export const root = new URL(import.meta.env.DEV ? "/" : "../", import.meta.url);

/** The address of a path of this installation, such as `/inboxes/1?tab=text` or `/api/…`. */
export function address(path: string): string {
  return root.pathname + path.slice(1);
}
