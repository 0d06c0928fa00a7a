// The module `k6/http`.

import { ask, record, state } from "../bridge.mjs";

const PARAMS = new Set([
  "headers",
  "tags",
  "timeout",
  "responseType",
  "responseCallback",
  "redirects",
]);
const SECONDS = 60_000;
const isExpected = expectedStatuses({ min: 200, max: 399 });

/** Says of a status whether it is one of these, single ones or ranges. */
export function expectedStatuses(...statuses) {
  const holds = (status) => (it) =>
    typeof it === "number" ? it === status : it.min <= status && status <= it.max;
  return (status) => statuses.some(holds(status));
}

/** What is expected where a request does not say; `null` counts no failures. */
export function setResponseCallback(callback) {
  state.responseCallback = callback;
}

function milliseconds(timeout) {
  if (timeout === undefined) return SECONDS;
  if (typeof timeout === "number") return timeout;
  const found = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(timeout);
  if (!found) throw new Error(`timeout ${timeout}: wants milliseconds, or a text such as 30s`);
  return Number(found[1]) * { ms: 1, s: 1000, m: 60_000 }[found[2]];
}

/** Bodies that are objects are forms. */
function encode(body, headers) {
  if (body === null || body === undefined) return null;
  if (typeof body === "string") return body;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body))
    return new Uint8Array(body.buffer ?? body);
  headers["Content-Type"] ??= "application/x-www-form-urlencoded";
  return new URLSearchParams(body).toString();
}

function prepare(method, url, body, params) {
  const given = params ?? {};
  const unknown = Object.keys(given).find((name) => !PARAMS.has(name));
  if (unknown) throw new Error(`the runner has no parameter ${unknown}`);
  const headers = { ...given.headers };
  return {
    method: method.toUpperCase(),
    url: String(url),
    headers,
    body: encode(body, headers),
    timeout: milliseconds(given.timeout),
    redirects: given.redirects ?? state.options.maxRedirects ?? 10,
    responseType: given.responseType ?? (state.options.discardResponseBodies ? "none" : "text"),
  };
}

/** The answer with what k6's has, and samples of it. */
function finish(request, params, answer) {
  const callback =
    params?.responseCallback === undefined
      ? (state.responseCallback ?? isExpected)
      : params.responseCallback;
  const isFine = callback ? callback(answer.status) : true;
  const tags = {
    name: request.url,
    method: request.method,
    status: String(answer.status),
    expected_response: String(isFine),
    ...params?.tags,
  };
  record("http_reqs", "counter", 1, tags);
  record("http_req_duration", "trend", answer.timings.duration, tags, true);
  record("http_req_waiting", "trend", answer.timings.waiting, tags, true);
  record("data_received", "counter", answer.received, tags);
  record("data_sent", "counter", answer.sent, tags);
  if (callback) record("http_req_failed", "rate", isFine ? 0 : 1, tags);
  const json = (path) => pick(JSON.parse(answer.body), path);
  return { ...answer, request, json };
}

/** A value by a path such as `messages.0.id`. */
function pick(value, path) {
  if (path === undefined) return value;
  return path.split(".").reduce((found, key) => found?.[key], value);
}

export function request(method, url, body = null, params = null) {
  const prepared = prepare(method, url, body, params);
  return finish(prepared, params, ask("http", [prepared])[0]);
}

/** Many requests at once, as far as `batch` and `batchPerHost` allow; a list or an object of them. */
export function batch(requests) {
  const isList = Array.isArray(requests);
  const keys = Object.keys(requests);
  const all = keys.map((key) => {
    const it = requests[key];
    if (typeof it === "string") return ["GET", it, null, null];
    return Array.isArray(it) ? it : [it.method, it.url, it.body, it.params];
  });
  const prepared = all.map(([method, url, body, params]) => prepare(method, url, body, params));
  const answers = ask("http", prepared).map((answer, i) => finish(prepared[i], all[i][3], answer));
  return isList ? answers : Object.fromEntries(keys.map((key, i) => [key, answers[i]]));
}

export const get = (url, params) => request("GET", url, null, params);
export const head = (url, params) => request("HEAD", url, null, params);
export const post = (url, body, params) => request("POST", url, body, params);
export const put = (url, body, params) => request("PUT", url, body, params);
export const patch = (url, body, params) => request("PATCH", url, body, params);
export const del = (url, body, params) => request("DELETE", url, body, params);

export default {
  get,
  head,
  post,
  put,
  patch,
  del,
  request,
  batch,
  expectedStatuses,
  setResponseCallback,
};
