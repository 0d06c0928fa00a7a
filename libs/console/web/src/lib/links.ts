/** Schemes that a link of a mail may have to be one here; others can only be copied. */
const OPENED = new Set(["http:", "https:", "mailto:", "tel:"]);

/** Whether a mail's URL may be opened by a click. */
export function opens(url: string): boolean {
  try {
    return OPENED.has(new URL(url).protocol);
  } catch {
    return false;
  }
}

/** A URL in three parts, of which the middle is its host. */
export function parts(url: string): [before: string, host: string, after: string] {
  try {
    const { host } = new URL(url);
    const at = host === "" ? -1 : url.toLowerCase().indexOf(host);
    if (at >= 0)
      return [url.slice(0, at), url.slice(at, at + host.length), url.slice(at + host.length)];
  } catch {
    // It is shown as it is.
  }
  return [url, "", ""];
}
