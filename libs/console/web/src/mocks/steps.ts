import type { Provider, Stored } from "./mocks.svelte";

/** The states to which an object can go from where it is, the usual one first. */
export function statesAfter(
  steps: Provider["steps"],
  { kind, state }: Pick<Stored, "kind" | "state">,
): string[] {
  return steps.filter((step) => step.kind === kind && step.from === state).map(({ to }) => to);
}
