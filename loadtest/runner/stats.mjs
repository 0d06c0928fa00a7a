// Metrics from samples, the parts of them that thresholds ask for, and the thresholds themselves.

const EXPRESSION =
  /^\s*(p\((\d+(?:\.\d+)?)\)|avg|min|max|med|count|rate|value)\s*(<=|<|>=|>|===|==|!=)\s*(-?\d+(?:\.\d+)?)\s*$/;
const COMPARE = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "==": (a, b) => a === b,
  "===": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};
const AGGREGATES = {
  counter: ["count", "rate"],
  gauge: ["value"],
  rate: ["rate"],
  trend: ["avg", "min", "max", "med", "p"],
};
const SHOWN = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/** A percentile of sorted values, between the two nearest. */
export function percentile(sorted, percent) {
  if (sorted.length === 0) return 0;
  const rank = (percent / 100) * (sorted.length - 1);
  const low = Math.floor(rank);
  const high = Math.ceil(rank);
  return sorted[low] + (sorted[high] - sorted[low]) * (rank - low);
}

class Metric {
  constructor(name, type, isTime) {
    Object.assign(this, {
      name,
      type,
      isTime,
      count: 0,
      sum: 0,
      last: 0,
      passes: 0,
      values: [],
      thresholds: [],
    });
  }

  add(value) {
    this.count += 1;
    this.sum += value;
    this.last = value;
    if (this.type === "rate" && value) this.passes += 1;
    if (this.type === "trend") this.values.push(value);
  }

  /** The value of an aggregate after so many seconds. */
  get(aggregate, seconds) {
    if (this.type === "counter")
      return aggregate === "count" ? this.sum : this.sum / Math.max(seconds, 0.001);
    if (this.type === "gauge") return this.last;
    if (this.type === "rate") return this.count ? this.passes / this.count : 0;
    if (aggregate === "avg") return this.count ? this.sum / this.count : 0;
    const sorted = Float64Array.from(this.values).sort();
    if (aggregate === "min") return sorted[0] ?? 0;
    if (aggregate === "max") return sorted.at(-1) ?? 0;
    return percentile(sorted, aggregate === "med" ? 50 : Number(aggregate.slice(2, -1)));
  }

  describe(seconds) {
    const names = { trend: SHOWN, rate: ["rate"], counter: ["count", "rate"], gauge: ["value"] }[
      this.type
    ];
    const values = Object.fromEntries(names.map((it) => [it, this.get(it, seconds)]));
    if (this.type === "rate")
      Object.assign(values, { passes: this.passes, fails: this.count - this.passes });
    const told = { type: this.type, contains: this.isTime ? "time" : "default", values };
    if (this.thresholds.length === 0) return told;
    return {
      ...told,
      thresholds: Object.fromEntries(this.thresholds.map((it) => [it.text, { ok: it.ok }])),
    };
  }
}

/** `name{tag:value,…}` as a name and tags. */
function parseName(text) {
  const [, name, inner] = /^([^{]+)(?:\{(.*)\})?$/.exec(text) ?? [];
  if (!name) throw new Error(`threshold ${text}: no name of a metric`);
  const tags = (inner ?? "").split(",").filter(Boolean);
  return {
    name,
    tags: tags.map((it) => [
      it.slice(0, it.indexOf(":")).trim(),
      it.slice(it.indexOf(":") + 1).trim(),
    ]),
  };
}

function parseThreshold(name, given) {
  const {
    threshold: text,
    abortOnFail = false,
    delayAbortEval = null,
  } = typeof given === "string" ? { threshold: given } : given;
  const found = EXPRESSION.exec(text);
  if (!found) throw new Error(`threshold of ${name}: cannot read ${text}`);
  return {
    text,
    aggregate: found[1],
    compare: COMPARE[found[3]],
    limit: Number(found[4]),
    abortOnFail,
    delayAbortEval,
    ok: true,
  };
}

export class Stats {
  constructor(thresholds = {}) {
    this.metrics = new Map();
    this.parts = [];
    for (const [text, list] of Object.entries(thresholds)) {
      const { name, tags } = parseName(text);
      const parsed = [list].flat().map((it) => parseThreshold(text, it));
      this.parts.push({ text, name, tags, parsed, metric: null });
    }
  }

  add([name, type, value, tags, isTime]) {
    const known = this.metrics.get(name) ?? this.make(name, type, isTime);
    if (known.type !== type) throw new Error(`the metric ${name} is a ${known.type} and a ${type}`);
    known.add(value);
    for (const part of this.parts) {
      if (
        part.metric &&
        part.name === name &&
        part.tags.length > 0 &&
        part.tags.every(([key, it]) => String(tags[key]) === it)
      ) {
        part.metric.add(value);
      }
    }
  }

  make(name, type, isTime) {
    const metric = new Metric(name, type, isTime);
    this.metrics.set(name, metric);
    for (const part of this.parts.filter((it) => it.name === name)) {
      part.metric = part.tags.length > 0 ? new Metric(part.text, type, isTime) : metric;
      part.metric.thresholds = part.parsed;
      this.metrics.set(part.text, part.metric);
      const wrong = part.parsed.find(
        (it) => !AGGREGATES[type].includes(it.aggregate.replace(/\(.*/, "")),
      );
      if (wrong) throw new Error(`threshold of ${part.text}: a ${type} has no ${wrong.aggregate}`);
    }
    return metric;
  }

  /** Judges all thresholds after so many seconds; whether one that fails ends the test. */
  judge(seconds) {
    let ends = false;
    for (const { metric, parsed } of this.parts) {
      for (const it of metric ? parsed : []) {
        it.ok =
          metric.count === 0 && metric.type !== "counter"
            ? true
            : it.compare(metric.get(it.aggregate, seconds), it.limit);
        ends ||= !it.ok && it.abortOnFail && seconds >= (it.delayAbortEval ?? 0);
      }
    }
    return ends;
  }

  /** Texts of the thresholds that do not hold. A counter that nothing was added to is 0. */
  failed() {
    const silent = (part) =>
      part.parsed.filter((it) => /^(count|rate)$/.test(it.aggregate) && !it.compare(0, it.limit));
    return this.parts.flatMap((part) =>
      (part.metric ? part.parsed.filter((it) => !it.ok) : silent(part)).map(
        (it) => `${part.text}: ${it.text}`,
      ),
    );
  }
}
