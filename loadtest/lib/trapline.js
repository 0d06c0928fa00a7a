// What the scripts have in common: where the service is, and its calls.

import http from "k6/http";

/** The service, with a path where it has one; this machine when left out. */
export const TARGET = (__ENV.TRAPLINE_URL || "http://127.0.0.1:8025").replace(/\/$/, "");
/** smoke: seconds, one of each thing · load: minutes · stress: more and more · soak: hours. */
export const PROFILE = __ENV.PROFILE || "smoke";
/** How many times the usual may things take, where the machine is busy with something else. */
export const PATIENCE = Number(__ENV.PATIENCE || 1);
const KEY = __ENV.TRAPLINE_API_KEY;

/**
 * Parameters of a request, which metrics call by `name` and not by its address.
 * @param {string} name
 * @param {object} [more]
 */
export function params(name, more = {}) {
  return {
    headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" },
    tags: { name },
    ...more,
  };
}

/** @param {string} path */
export const api = (path) => `${TARGET}/api${path}`;

/**
 * Makes a disposable inbox; its id, or an error that ends the iteration.
 * @param {string} name
 * @returns {string}
 */
export function makeInbox(name, minutes = 10) {
  const body = JSON.stringify({ name, expiresInMinutes: minutes });
  const answer = http.post(api("/inboxes"), body, params("make inbox"));
  if (answer.status !== 201) throw new Error(`make inbox: ${answer.status} ${answer.body}`);
  return String(answer.json("id"));
}

/**
 * Has the service store a sample mail, as if it had come by SMTP: at most ten an inbox and minute.
 * @param {string} inbox
 */
export function sendSample(inbox) {
  return http.post(api(`/inboxes/${inbox}/test-message`), null, params("send"));
}

/**
 * The parameters of a wait, for `http.get` or in an `http.batch`.
 * @param {string} inbox
 * @param {string} query
 * @param {number} timeout in seconds
 */
export function wait(inbox, query, timeout) {
  const url = api(`/inboxes/${inbox}/messages/wait?${query}&timeout=${timeout}&onTimeout=200`);
  return { url, params: params("wait", { timeout: `${timeout + 10}s` }) };
}

/** @param {string} inbox */
export function deleteInbox(inbox) {
  return http.del(api(`/inboxes/${inbox}`), null, params("delete inbox"));
}

/** A name that no other run has. */
export function unique() {
  return `load-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
}

if (!KEY) throw new Error("TRAPLINE_API_KEY: name a key of a team that is there for load");
