// The module `k6/execution`.

import { state } from "../bridge.mjs";
import { abort } from "./core.mjs";

/** An object that refuses what it does not have, instead of `undefined`. */
const strict = (name, properties) =>
  new Proxy(properties, {
    get(target, key) {
      if (typeof key === "string" && !(key in target))
        throw new Error(`the runner has no ${name}.${key}`);
      return target[key];
    },
  });

export const vu = strict("vu", {
  get idInTest() {
    return state.vu;
  },
  get idInInstance() {
    return state.vu;
  },
  get iterationInInstance() {
    return state.iteration;
  },
  get iterationInScenario() {
    return state.iterationInScenario;
  },
});

export const scenario = strict("scenario", {
  get name() {
    return state.scenario.name;
  },
  get executor() {
    return state.scenario.executor;
  },
  get startTime() {
    return state.scenario.startTime;
  },
  get iterationInTest() {
    return state.iterationInTest;
  },
  get iterationInInstance() {
    return state.iterationInTest;
  },
});

export const test = strict("test", { abort, options: state.options });

export default { vu, scenario, test };
