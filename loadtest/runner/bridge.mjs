// A virtual user's side of the conversation with the main thread. k6's calls return when they are done, so
// the thread of the user sleeps until the main thread has the answer.

import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";

const { answers, flag } = workerData;
const signal = new Int32Array(flag);
const never = new Int32Array(new SharedArrayBuffer(4));
let samples = [];

/** What the virtual user is doing; `k6/execution` shows it. */
export const state = {
  vu: 0,
  iteration: 0,
  scenario: null,
  iterationInTest: 0,
  iterationInScenario: 0,
  group: "",
  options: {},
  responseCallback: null,
};

/** Sends a question, and sleeps until it is answered. */
export function ask(type, value) {
  Atomics.store(signal, 0, 0);
  parentPort.postMessage({ type, value });
  Atomics.wait(signal, 0, 0);
  const { error, result } = receiveMessageOnPort(answers).message;
  if (error) throw new Error(error);
  return result;
}

/** Sleeps for so many milliseconds. */
export function pause(milliseconds) {
  if (milliseconds > 0) Atomics.wait(never, 0, 0, milliseconds);
}

/** Notes a sample; the samples of an iteration are sent together. */
export function record(metric, type, value, tags = {}, isTime = false) {
  const scenario = state.scenario?.name;
  samples.push([
    metric,
    type,
    value,
    { ...state.scenario?.tags, scenario, group: state.group, ...tags },
    isTime,
  ]);
}

/** The samples since the last call. */
export function taken() {
  const found = samples;
  samples = [];
  return found;
}
