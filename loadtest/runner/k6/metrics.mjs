// The module `k6/metrics`.

import { record } from "../bridge.mjs";

class Metric {
  #type;
  #isTime;

  constructor(type, name, isTime = false) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_]{0,127}$/.test(name))
      throw new Error(`${name} is no name of a metric`);
    this.#type = type;
    this.#isTime = isTime;
    this.name = name;
  }

  add(value, tags = {}) {
    record(this.name, this.#type, Number(value), tags, this.#isTime);
  }
}

const kind = (type) =>
  class extends Metric {
    constructor(name, isTime) {
      super(type, name, isTime);
    }
  };

export const Counter = kind("counter");
export const Gauge = kind("gauge");
export const Rate = kind("rate");
export const Trend = kind("trend");
