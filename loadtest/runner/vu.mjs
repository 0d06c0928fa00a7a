// The thread of a virtual user: loads the script, and runs what the main thread says.

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

import { record, state, taken } from "./bridge.mjs";

const { script, environment } = workerData;

globalThis.__ENV = environment;
globalThis.__VU = 0;
globalThis.__ITER = 0;
globalThis.open = (file, mode = "") => {
  const path = resolve(dirname(script), file);
  return mode === "b" ? new Uint8Array(readFileSync(path)).buffer : readFileSync(path, "utf8");
};

const tell = (type, value = {}) => parentPort.postMessage({ type, value });

/** One call of a function of the script. */
async function run(exports, { name, argument, is }) {
  Object.assign(state, is);
  state.group = "";
  globalThis.__VU = state.vu;
  globalThis.__ITER = state.iteration;
  const began = performance.now();
  let result;
  let error = null;
  try {
    if (typeof exports[name] !== "function")
      throw new Error(`the script exports no function ${name}`);
    result = await exports[name](argument);
  } catch (thrown) {
    error = String(thrown?.stack ?? thrown);
  }
  if (is.isIteration) {
    record("iterations", "counter", 1);
    record("iteration_duration", "trend", performance.now() - began, {}, true);
  }
  tell("done", { result: result ?? null, error, samples: taken() });
}

try {
  const exports = await import(pathToFileURL(script).href);
  const has = (name) => typeof exports[name] === "function";
  const options = JSON.parse(JSON.stringify(exports.options ?? {}));
  parentPort.on("message", (message) => run(exports, message));
  tell("ready", {
    options,
    hasSetup: has("setup"),
    hasTeardown: has("teardown"),
    hasSummary: has("handleSummary"),
  });
} catch (thrown) {
  tell("broken", String(thrown?.stack ?? thrown));
}
