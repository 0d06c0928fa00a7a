// Ten times the load for a while, and back. Does the service refuse nothing, and is it itself afterwards?

import { check } from "k6";
import http from "k6/http";

import {
  PATIENCE,
  PROFILE,
  deleteInbox,
  makeInbox,
  sendSample,
  unique,
  wait,
} from "./lib/trapline.js";

const { rate, calm, peak, users } = {
  smoke: { rate: 2, calm: 2, peak: 2, users: 12 },
  load: { rate: 10, calm: 60, peak: 60, users: 180 },
  stress: { rate: 50, calm: 60, peak: 120, users: 180 },
  soak: { rate: 10, calm: 3600, peak: 600, users: 180 },
}[PROFILE];

const part = (startTime, times, lasts) => ({
  executor: "constant-arrival-rate",
  startTime: `${startTime}s`,
  rate: rate * times,
  duration: `${lasts}s`,
  preAllocatedVUs: Math.floor(users / (times === 1 ? 4 : 2)),
});

export const options = {
  scenarios: {
    before: part(0, 1, calm),
    spike: part(calm, 10, peak),
    after: part(calm + peak, 1, calm),
  },
  thresholds: {
    checks: ["rate==1"],
    dropped_iterations: [`count<${PATIENCE}`],
    "http_req_duration{scenario:spike,name:wait}": [`p(95)<${3000 * PATIENCE}`],
    "http_req_duration{scenario:after,name:wait}": [`p(95)<${1000 * PATIENCE}`],
  },
};

export default function () {
  const inbox = makeInbox(unique());
  sendSample(inbox);
  const { url, params } = wait(inbox, "subject=works", 30);
  check(http.get(url, params), {
    "the wait has the mail": (it) => it.status === 200 && it.json("message.inboxId") === inbox,
  });
  deleteInbox(inbox);
}
