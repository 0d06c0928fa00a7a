// Many clients wait, and then mail comes to all of them. Is one missed, late or wrong?

import { check, sleep } from "k6";
import exec from "k6/execution";
import http from "k6/http";
import { Counter, Trend } from "k6/metrics";

import {
  PATIENCE,
  PROFILE,
  deleteInbox,
  makeInbox,
  sendSample,
  unique,
  wait,
} from "./lib/trapline.js";

const { clients, rounds } = {
  smoke: { clients: 20, rounds: 2 },
  load: { clients: 1000, rounds: 5 },
  stress: { clients: 5000, rounds: 5 },
  soak: { clients: 1000, rounds: 500 },
}[PROFILE];
// The clients of one virtual user: it sends their waits at once.
const EACH = Math.min(clients, 100);
// Waits are parked for so long before the mail comes, in seconds.
const PARKED = PROFILE === "smoke" ? 1 : 10;

const missed = new Counter("waits_missed");
const wrong = new Counter("waits_wrong");
const late = new Trend("wait_answer_delay", true);

export const options = {
  batch: EACH,
  batchPerHost: EACH,
  setupTimeout: "10m",
  scenarios: {
    waiters: {
      executor: "per-vu-iterations",
      exec: "waitForAll",
      vus: clients / EACH,
      iterations: rounds,
      maxDuration: "6h",
    },
    senders: {
      executor: "per-vu-iterations",
      exec: "send",
      vus: clients / EACH,
      iterations: rounds,
      maxDuration: "6h",
    },
  },
  thresholds: {
    waits_missed: ["count==0"],
    waits_wrong: ["count==0"],
    checks: ["rate==1"],
    wait_answer_delay: [`p(95)<${2000 * PATIENCE}`],
  },
};

/** The inboxes of each pair of users in each round: a sample is sent to each of them once. */
export function setup() {
  const name = unique();
  const made = [];
  for (let index = 0; index < clients; index++) made.push(makeInbox(`${name}-${index}`, 600));
  return { inboxes: made, began: Date.now() };
}

/** @param {{ inboxes: string[], began: number }} data */
function ofThisUser(data) {
  const share = exec.scenario.iterationInTest % (clients / EACH);
  return data.inboxes.slice(share * EACH, (share + 1) * EACH);
}

/** @param {{ inboxes: string[], began: number }} data */
function sinceStart(data) {
  return (Date.now() - data.began) / 1000;
}

/** When a round of this user begins, in seconds from the start: waiters and senders reckon alike. */
function roundBegins() {
  return (exec.vu.iterationInScenario + 1) * (PARKED * 3);
}

export function waitForAll(data) {
  const begins = roundBegins();
  sleep(Math.max(0, begins - sinceStart(data)));
  const inboxes = ofThisUser(data);
  // A second earlier, for clocks that differ: the mail of the round before is older.
  const since = new Date(data.began + (begins - 1) * 1000).toISOString();
  const asked = inboxes.map((inbox) => {
    const { url, params } = wait(inbox, `since=${since}`, PARKED + 20);
    return { method: "GET", url, params };
  });
  http.batch(asked).forEach((answer, index) => {
    const isFound = check(answer, { "the wait is answered": (it) => it.status === 200 });
    const inbox = isFound ? answer.json("message.inboxId") : undefined;
    if (inbox === undefined) missed.add(1);
    else if (inbox !== inboxes[index]) wrong.add(1);
    late.add(Math.max(0, answer.timings.duration - PARKED * 1000));
  });
}

export function send(data) {
  sleep(Math.max(0, roundBegins() + PARKED - sinceStart(data)));
  for (const inbox of ofThisUser(data)) {
    check(sendSample(inbox), { "the mail is stored": (it) => it.status === 201 });
  }
}

export function teardown(data) {
  data.inboxes.forEach((inbox) => deleteInbox(inbox));
}
