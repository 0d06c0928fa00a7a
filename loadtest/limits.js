// Finds documented limits, and how the service answers beyond them. It needs none of load: one user, once.

import { check } from "k6";
import http from "k6/http";

import { api, deleteInbox, makeInbox, params, sendSample, unique } from "./lib/trapline.js";

// Samples that an inbox takes in a minute.
const SAMPLES = 10;

export const options = {
  scenarios: { once: { executor: "shared-iterations", vus: 1, iterations: 1 } },
  thresholds: { checks: ["rate==1"] },
};

/** Answers beyond a limit are no failures here. */
const refused = (name) =>
  params(name, { responseCallback: http.expectedStatuses({ min: 200, max: 499 }) });

/**
 * A value that is taken, and the next one, which is not.
 * @param {string} what
 * @param {(value: number) => number} status
 * @param {number} last
 * @param {number} beyond
 */
function boundary(what, status, last, beyond) {
  check(null, {
    [`${what}: ${last} is taken`]: () => status(last) < 300,
    [`${what}: ${beyond} is 400`]: () => status(beyond) === 400,
  });
}

export default function () {
  const inbox = makeInbox(unique());
  const list = (query) =>
    http.get(api(`/inboxes/${inbox}/messages?${query}`), refused("limit")).status;
  boundary("limit of a page, at most", (it) => list(`limit=${it}`), 200, 201);
  boundary("limit of a page, at least", (it) => list(`limit=${it}`), 1, 0);
  boundary("page, at least", (it) => list(`page=${it}`), 1, 0);

  const change = (body) =>
    http.patch(api(`/inboxes/${inbox}`), JSON.stringify(body), refused("limit")).status;
  boundary("life in minutes, at most", (it) => change({ expiresInMinutes: it }), 10080, 10081);
  boundary("life in minutes, at least", (it) => change({ expiresInMinutes: it }), 1, 0);
  boundary("messages of an inbox, at most", (it) => change({ maxMessages: it }), 10000, 10001);
  boundary("messages of an inbox, at least", (it) => change({ maxMessages: it }), 1, 0);

  const parked = (it) =>
    http.get(api(`/inboxes/${inbox}/messages/wait?timeout=${it}&onTimeout=200`), refused("limit"))
      .status;
  boundary("seconds of a wait, at least", parked, 1, 0);
  check(null, { "seconds of a wait: 121 is 400": () => parked(121) === 400 });

  for (let count = 0; count < SAMPLES; count++) {
    check(sendSample(inbox), { "ten samples a minute are taken": (it) => it.status === 201 });
  }
  const next = http.post(api(`/inboxes/${inbox}/test-message`), null, refused("limit"));
  check(next, {
    "the next one is 429": (it) => it.status === 429,
    "and says when to come back": (it) => Number(it.headers["Retry-After"]) > 0,
  });
  deleteInbox(inbox);
}
