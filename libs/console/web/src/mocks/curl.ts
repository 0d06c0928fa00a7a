import type { Call } from "./mocks.svelte";

/** Headers that curl or the server make by themselves. */
const OWN = new Set([
  "host",
  "content-length",
  "connection",
  "accept-encoding",
  "user-agent",
  "x-request-id",
]);

/** A call in the words of a shell; what is hidden of it is hidden here, too. */
export function curl(baseUrl: string, { method, path, query, request }: Call): string {
  const url = baseUrl + path + (query === "" ? "" : `?${query}`);
  const headers = request.headers.filter(({ name }) => !OWN.has(name.toLowerCase()));
  const isText = request.body !== null && request.body !== "" && request.encoding === "utf8";
  return [
    `curl -X ${quoted(method)} ${quoted(url)}`,
    ...headers.map(({ name, value }) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(isText ? [`--data-raw ${quoted(request.body ?? "")}`] : []),
  ].join(" \\\n  ");
}

/** A word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
