/** Names of browsers, those that others claim to be last. */
const BROWSERS = ["Edg", "OPR", "Firefox", "Chrome", "Safari"];
const SYSTEMS = ["Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux"];

/** A browser by its own words, in short: "Firefox, Linux". Empty where it says nothing of itself. */
export function browserOf(agent: string): string {
  const browser = BROWSERS.find((name) => agent.includes(`${name}/`));
  const system = SYSTEMS.find((name) => agent.includes(name));
  const names = [browser?.replace("Edg", "Edge").replace("OPR", "Opera"), system];
  return names.filter(Boolean).join(", ") || agent.slice(0, 60);
}
