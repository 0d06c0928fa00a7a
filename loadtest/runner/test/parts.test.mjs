import assert from "node:assert/strict";
import { test } from "node:test";

import { scenarios, seconds } from "../options.mjs";
import { due, level } from "../scheduler.mjs";
import { Stats, percentile } from "../stats.mjs";

test("durations are texts with units", () => {
  assert.equal(seconds("1m30s"), 90);
  assert.equal(seconds("250ms"), 0.25);
  assert.equal(seconds(5), 5);
  for (const wrong of ["", "5", "1x", "s"]) assert.throws(() => seconds(wrong), /no duration/);
});

test("percentiles are between the two nearest values", () => {
  assert.equal(percentile([1, 2, 3, 4], 50), 2.5);
  assert.equal(percentile([1, 2, 3, 4, 5], 90), 4.6);
  assert.equal(percentile([7], 95), 7);
});

test("stages are straight lines, and iterations the area under them", () => {
  const stages = [
    { duration: "10s", target: 10 },
    { duration: "10s", target: 10 },
    { duration: "10s", target: 0 },
  ];
  assert.deepEqual(
    [0, 5, 15, 25, 40].map((it) => level(stages, 0, it)),
    [0, 5, 10, 5, 0],
  );
  assert.deepEqual(
    [0, 10, 20, 30, 99].map((it) => due(stages, 0, it)),
    [0, 50, 150, 200, 200],
  );
});

test("options that the runner does not know are errors", () => {
  const wrong = [
    [{ hosts: {} }, /no option hosts/],
    [
      { scenarios: { a: { executor: "externally-controlled" } } },
      /no executor externally-controlled/,
    ],
    [
      { scenarios: { a: { executor: "constant-vus", duration: "1s", rate: 5 } } },
      /constant-vus has no rate/,
    ],
    [
      { scenarios: { a: { executor: "constant-arrival-rate", rate: 5, duration: "1s" } } },
      /needs preAllocatedVUs/,
    ],
    [{ vus: 201, duration: "1s" }, /200 at most/],
  ];
  for (const [options, message] of wrong) assert.throws(() => scenarios(options), message);
  assert.equal(scenarios({ vus: 2, duration: "1s" }).default.executor, "constant-vus");
  assert.equal(scenarios({ stages: [] }).default.executor, "ramping-vus");
  assert.equal(scenarios({}).default.iterations, 1);
});

const sample = (name, type, value, tags = {}) => [name, type, value, tags, type === "trend"];

test("thresholds are judged over all samples, and over those with tags", () => {
  const cases = [
    [{ t: ["p(95)<10"] }, []],
    [{ t: ["avg<2", "max<=9"] }, ["t: avg<2"]],
    [{ "t{name:a}": ["max<2"] }, []],
    [{ "t{name:b}": ["max<2"] }, ["t{name:b}: max<2"]],
    [{ "t{name:b,status:200}": ["min>8"] }, []],
    [{ c: ["count==3"] }, ["c: count==3"]],
    [{ r: ["rate>0.5"] }, ["r: rate>0.5"]],
    [{ g: ["value===7"] }, []],
    [{ never: ["count==0"] }, []],
    [{ never: ["count>0"] }, ["never: count>0"]],
  ];
  for (const [thresholds, failed] of cases) {
    const stats = new Stats(thresholds);
    stats.add(sample("t", "trend", 1, { name: "a" }));
    stats.add(sample("t", "trend", 9, { name: "b", status: "200" }));
    for (const value of [1, 1]) stats.add(sample("c", "counter", value));
    for (const value of [0, 1]) stats.add(sample("r", "rate", value));
    for (const value of [3, 7]) stats.add(sample("g", "gauge", value));
    stats.judge(1);
    assert.deepEqual(stats.failed(), failed, JSON.stringify(thresholds));
  }
});

test("thresholds that cannot be are errors", () => {
  assert.throws(() => new Stats({ t: ["p95<10"] }), /cannot read p95<10/);
  const stats = new Stats({ c: ["avg<1"] });
  assert.throws(() => stats.add(sample("c", "counter", 1)), /a counter has no avg/);
});

test("a threshold ends the test where it says so, and not before its delay", () => {
  const stats = new Stats({
    c: [{ threshold: "count<1", abortOnFail: true, delayAbortEval: 5 }],
    d: ["count<1"],
  });
  stats.add(sample("c", "counter", 1));
  stats.add(sample("d", "counter", 1));
  assert.equal(stats.judge(1), false);
  assert.equal(stats.judge(6), true);
});
