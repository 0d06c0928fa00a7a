// Is everything that was accepted listed, once, and in order?

import { check } from "k6";
import http from "k6/http";
import { Counter } from "k6/metrics";

import {
  PATIENCE,
  PROFILE,
  api,
  deleteInbox,
  makeInbox,
  params,
  sendSample,
  unique,
} from "./lib/trapline.js";

const { users, iterations } = {
  smoke: { users: 2, iterations: 2 },
  load: { users: 50, iterations: 20 },
  stress: { users: 180, iterations: 50 },
  soak: { users: 20, iterations: 2000 },
}[PROFILE];
// As many samples as an inbox takes in a minute.
const MESSAGES = 10;

const lost = new Counter("messages_lost");
const repeated = new Counter("messages_repeated");

export const options = {
  scenarios: {
    senders: { executor: "per-vu-iterations", vus: users, iterations, maxDuration: "6h" },
  },
  thresholds: {
    checks: ["rate==1"],
    messages_lost: ["count==0"],
    messages_repeated: ["count==0"],
    "http_req_duration{name:send}": [`p(95)<${500 * PATIENCE}`],
  },
};

export default function () {
  const inbox = makeInbox(unique());
  const accepted = [];
  for (let count = 0; count < MESSAGES; count++) {
    const answer = sendSample(inbox);
    if (answer.status === 201) accepted.push(String(answer.json("id")));
  }
  const list = http.get(api(`/inboxes/${inbox}/messages?limit=200`), params("list"));
  /** @type {any} */
  const body = list.status === 200 ? list.json() : { messages: [] };
  const listed = body.messages.map((it) => it.id);
  lost.add(accepted.filter((id) => !listed.includes(id)).length);
  repeated.add(listed.length - new Set(listed).size);
  check(listed, { "newest first": (it) => it.join() === [...accepted].reverse().join() });
  deleteInbox(inbox);
}
