// The module `k6`.

import { ask, pause, record, state } from "../bridge.mjs";

/** Whether all conditions hold of a value; each is counted by its name. */
export function check(value, sets, tags = {}) {
  let holds = true;
  for (const [name, condition] of Object.entries(sets)) {
    const passed = Boolean(typeof condition === "function" ? condition(value) : condition);
    record("checks", "rate", passed ? 1 : 0, { ...tags, check: name });
    holds &&= passed;
  }
  return holds;
}

export function sleep(seconds) {
  pause(seconds * 1000);
}

export function group(name, body) {
  const outer = state.group;
  state.group = `${outer}::${name}`;
  const began = performance.now();
  try {
    return body();
  } finally {
    record("group_duration", "trend", performance.now() - began, {}, true);
    state.group = outer;
  }
}

/** Ends the iteration with an error. */
export function fail(reason = "") {
  throw new Error(reason);
}

/** Ends the test: the iteration does not go on. */
export function abort(reason = "") {
  ask("abort", String(reason));
  pause(60_000);
}

export default { check, sleep, group, fail };
