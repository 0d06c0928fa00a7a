// Hours of an even load. Does a process keep more and more memory? It needs METRICS_TOKEN, and one process.

import { check, sleep } from "k6";
import exec from "k6/execution";
import http from "k6/http";
import { Trend } from "k6/metrics";

import {
  PATIENCE,
  PROFILE,
  TARGET,
  deleteInbox,
  makeInbox,
  sendSample,
  unique,
  wait,
} from "./lib/trapline.js";

const { rate, duration, every, users } = {
  smoke: { rate: 3, duration: "3s", every: 1, users: 3 },
  load: { rate: 10, duration: "15m", every: 15, users: 20 },
  stress: { rate: 50, duration: "1h", every: 30, users: 20 },
  soak: { rate: 10, duration: "8h", every: 60, users: 20 },
}[PROFILE];
// Memory beyond that of the first look, in MiB: caches fill up.
const GROWTH = Number(__ENV.MEMORY_GROWTH_MIB || 256);

const growth = new Trend("memory_growth_mib");

export const options = {
  scenarios: {
    jobs: { executor: "constant-arrival-rate", rate, duration, preAllocatedVUs: users },
    memory: { executor: "constant-vus", exec: "memory", vus: 1, duration },
  },
  thresholds: {
    checks: ["rate==1"],
    memory_growth_mib: [`max<${GROWTH}`],
    "http_req_duration{name:wait}": [`p(95)<${1000 * PATIENCE}`],
  },
};

/** What a process says of its memory, in MiB. */
function resident() {
  const headers = { Authorization: `Bearer ${__ENV.METRICS_TOKEN}` };
  const answer = http.get(`${TARGET}/api/metrics`, { headers, tags: { name: "metrics" } });
  const found = /^process_resident_memory_bytes (\S+)$/m.exec(String(answer.body));
  if (!found) exec.test.abort(`metrics: ${answer.status}; METRICS_TOKEN must be the service's`);
  return Number(found?.[1]) / 1024 / 1024;
}

export function setup() {
  return resident();
}

/** @param {number} first */
export function memory(first) {
  growth.add(Math.max(0, resident() - first));
  sleep(every);
}

export default function () {
  const inbox = makeInbox(unique());
  sendSample(inbox);
  const { url, params } = wait(inbox, "subject=works", 30);
  check(http.get(url, params), {
    "the wait has the mail": (it) => it.status === 200 && it.json("message.inboxId") === inbox,
  });
  deleteInbox(inbox);
}
