// A fleet of CI jobs, each of which makes an inbox, has mail sent, waits for it, reads it and deletes the inbox.
// How many jobs a second can the service take?

import { check } from "k6";
import http from "k6/http";
import { Trend } from "k6/metrics";

import {
  PATIENCE,
  PROFILE,
  api,
  deleteInbox,
  makeInbox,
  params,
  sendSample,
  unique,
  wait,
} from "./lib/trapline.js";

const JOBS = {
  smoke: { rate: 5, stages: [{ duration: "5s", target: 5 }], users: 4 },
  load: {
    rate: 5,
    stages: [
      { duration: "1m", target: 50 },
      { duration: "3m", target: 50 },
    ],
    users: 150,
  },
  stress: { rate: 10, stages: [{ duration: "10m", target: 500 }], users: 180 },
  soak: { rate: 20, stages: [{ duration: "4h", target: 20 }], users: 100 },
}[PROFILE];

const whole = new Trend("job_duration", true);

export const options = {
  scenarios: {
    jobs: {
      executor: "ramping-arrival-rate",
      startRate: JOBS.rate,
      timeUnit: "1s",
      stages: JOBS.stages,
      preAllocatedVUs: JOBS.users,
      maxVUs: JOBS.users,
    },
  },
  thresholds: {
    checks: ["rate==1"],
    http_req_failed: ["rate<0.001"],
    dropped_iterations: [`count<${PATIENCE}`],
    job_duration: [`p(95)<${2000 * PATIENCE}`],
    "http_req_duration{name:wait}": [`p(95)<${1000 * PATIENCE}`],
  },
};

export default function () {
  const began = Date.now();
  const inbox = makeInbox(unique());
  check(sendSample(inbox), { "the mail is stored": (it) => it.status === 201 });
  const { url, params: waiting } = wait(inbox, "subject=works", 30);
  const found = http.get(url, waiting);
  const message = found.status === 200 ? String(found.json("message.id") ?? "") : "";
  check(found, {
    "the wait has the mail": () => message !== "",
    "it is this inbox's": (it) => it.status === 200 && it.json("message.inboxId") === inbox,
  });
  const read = http.get(api(`/messages/${message}`), params("read"));
  check(read, { "the mail is read": (it) => it.status === 200 && it.json("id") === message });
  check(deleteInbox(inbox), { "the inbox is deleted": (it) => it.status === 204 });
  whole.add(Date.now() - began);
}
