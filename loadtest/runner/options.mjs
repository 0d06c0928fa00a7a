// The options of a script, checked: what the runner does not know is an error.

const KNOWN = new Set([
  "scenarios",
  "thresholds",
  "vus",
  "duration",
  "iterations",
  "stages",
  "batch",
  "batchPerHost",
  "tags",
  "discardResponseBodies",
  "insecureSkipTLSVerify",
  "setupTimeout",
  "teardownTimeout",
  "maxRedirects",
  "userAgent",
  "summaryTrendStats",
]);
const COMMON = ["executor", "startTime", "gracefulStop", "exec", "env", "tags"];
const EXECUTORS = {
  "shared-iterations": ["vus", "iterations", "maxDuration"],
  "per-vu-iterations": ["vus", "iterations", "maxDuration"],
  "constant-vus": ["vus", "duration"],
  "ramping-vus": ["startVUs", "stages", "gracefulRampDown"],
  "constant-arrival-rate": ["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs"],
  "ramping-arrival-rate": ["startRate", "timeUnit", "stages", "preAllocatedVUs", "maxVUs"],
};
const NEEDED = {
  "constant-vus": ["duration"],
  "ramping-vus": ["stages"],
  "constant-arrival-rate": ["rate", "duration", "preAllocatedVUs"],
  "ramping-arrival-rate": ["stages", "preAllocatedVUs"],
};
/** Threads that the runner has at most. */
export const MOST_VUS = 200;

/** Seconds of a text such as `1m30s`, or of a number of them. */
export function seconds(text) {
  if (typeof text === "number") return text;
  const parts = [...String(text).matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map((it) => it[0]).join("") !== text)
    throw new Error(`${text} is no duration such as 1m30s`);
  return parts.reduce(
    (sum, [, number, unit]) => sum + Number(number) * { ms: 0.001, s: 1, m: 60, h: 3600 }[unit],
    0,
  );
}

function shortcut(options) {
  if (options.stages)
    return { executor: "ramping-vus", stages: options.stages, startVUs: options.vus ?? 1 };
  if (options.duration)
    return { executor: "constant-vus", vus: options.vus ?? 1, duration: options.duration };
  return {
    executor: "shared-iterations",
    vus: options.vus ?? 1,
    iterations: options.iterations ?? 1,
  };
}

function checkScenario(name, it) {
  const own = EXECUTORS[it.executor];
  if (!own) throw new Error(`scenario ${name}: the runner has no executor ${it.executor}`);
  const unknown = Object.keys(it).find((key) => !own.includes(key) && !COMMON.includes(key));
  if (unknown) throw new Error(`scenario ${name}: ${it.executor} has no ${unknown}`);
  const missing = (NEEDED[it.executor] ?? []).find((key) => it[key] === undefined);
  if (missing) throw new Error(`scenario ${name}: ${it.executor} needs ${missing}`);
}

/** How many threads a scenario takes. */
export function users(it) {
  if (it.stages && it.executor === "ramping-vus")
    return Math.max(it.startVUs ?? 1, ...it.stages.map((stage) => stage.target));
  return it.maxVUs ?? it.preAllocatedVUs ?? it.vus ?? 1;
}

/** The scenarios of a script, by name. */
export function scenarios(options) {
  const unknown = Object.keys(options).find((key) => !KNOWN.has(key));
  if (unknown) throw new Error(`the runner has no option ${unknown}`);
  const found = options.scenarios ?? { default: shortcut(options) };
  for (const [name, it] of Object.entries(found)) checkScenario(name, it);
  const all = Object.values(found).reduce((sum, it) => sum + users(it), 0);
  if (all > MOST_VUS) throw new Error(`${all} virtual users; the runner has ${MOST_VUS} at most`);
  return found;
}
