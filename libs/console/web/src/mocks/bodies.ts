/** A body as people read it: JSON by lines, a form by its fields, anything else as it is. */
export function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // A form has no spaces and no line breaks.
    if (!/^[^\s=&{<]+=\S*$/.test(body)) return body;
    return [...new URLSearchParams(body)].map(([name, value]) => `${name}=${value}`).join("\n");
  }
}
