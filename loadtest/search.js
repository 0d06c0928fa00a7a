// People search and page through inboxes that are full. How long does that take, and is it right?

import { check } from "k6";
import http from "k6/http";

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

const { inboxes, users, duration } = {
  smoke: { inboxes: 2, users: 2, duration: "3s" },
  load: { inboxes: 20, users: 20, duration: "3m" },
  stress: { inboxes: 20, users: 150, duration: "5m" },
  soak: { inboxes: 50, users: 10, duration: "4h" },
}[PROFILE];
// As many samples as an inbox takes in a minute.
const MESSAGES = 10;

export const options = {
  setupTimeout: "10m",
  scenarios: { people: { executor: "constant-vus", vus: users, duration } },
  thresholds: {
    checks: ["rate==1"],
    "http_req_duration{name:search}": [`p(95)<${500 * PATIENCE}`],
    "http_req_duration{name:page}": [`p(95)<${500 * PATIENCE}`],
  },
};

export function setup() {
  const name = unique();
  const made = [];
  for (let index = 0; index < inboxes; index++) {
    const inbox = makeInbox(`${name}-${index}`, 600);
    for (let count = 0; count < MESSAGES; count++) sendSample(inbox);
    made.push(inbox);
  }
  return made;
}

/** @param {string[]} made */
export default function (made) {
  const inbox = made[Math.floor(Math.random() * made.length)];
  const list = `/inboxes/${inbox}/messages`;
  check(http.get(api(`${list}?q=WORKS`), params("search")), {
    "all of them are found": (it) => it.status === 200 && it.json("total") === MESSAGES,
  });
  check(http.get(api(`${list}?q=nowhere`), params("search")), {
    "nothing else is": (it) => it.status === 200 && it.json("total") === 0,
  });
  check(http.get(api(`${list}?page=2&limit=4`), params("page")), {
    "a page has what it should": (it) =>
      it.status === 200 &&
      it.json("messages.3.id") !== undefined &&
      it.json("messages.4") === undefined,
  });
}

/** @param {string[]} made */
export function teardown(made) {
  made.forEach((inbox) => deleteInbox(inbox));
}
