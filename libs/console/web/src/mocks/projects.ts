import { inboxes } from "../api/inboxes.svelte";
import { mocks as text } from "../text/mocks";

/** The team's projects, of which a mock may have one. */
export function projectOptions() {
  const projects = inboxes.known.value?.projects ?? [];
  const known = projects.map(({ id, name }) => ({ value: id, label: name }));
  return [{ value: "", label: text.noProject }, ...known];
}
