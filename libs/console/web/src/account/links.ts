/** The place in the console of a link that works once, whatever name of the server the link has. */
export function pathOf(link: string): string {
  const { pathname, search } = new URL(link);
  return pathname.slice(pathname.lastIndexOf("/")) + search;
}
