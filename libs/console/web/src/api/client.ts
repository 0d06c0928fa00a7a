import createClient, { type Middleware } from "openapi-fetch";

import { root } from "../lib/root";
import { ApiError, isAbort } from "./error";
import type { components, paths } from "./schema";

export type Schema = components["schemas"];

/** Milliseconds before a read is tried again, where the answer does not say. */
const PAUSES = [500, 1_000, 2_000];
/** Milliseconds in which an answer to a read has to begin: a connection may have died in a sleep, and nobody says so. */
const LATE = 15_000;
/** The longest that an answer can make a read wait. */
const LONGEST_PAUSE = 10_000;
/** Bytes of a raw message that are shown at once. */
export const RAW_BYTES = 256 * 1024;

let signedOut = () => {};

/** Tells when an answer says that nobody is signed in. */
export function onSignedOut(tell: () => void): void {
  signedOut = tell;
}

const errors: Middleware = {
  async onResponse({ response, schemaPath }) {
    if (response.ok) return;
    if (response.status === 401 && schemaPath !== "/api/auth/sign-in") signedOut();
    throw await ApiError.of(response);
  },
  onError({ error }) {
    return error instanceof ApiError || isAbort(error) ? (error as Error) : ApiError.offline();
  },
};

/** The API, typed by its own document. What is no success is thrown as an `ApiError`. */
export const api = createClient<paths>({
  baseUrl: root.href.replace(/\/$/, ""),
  fetch: patient,
});
api.use(errors);

/** The body of an answer that is a success. */
export async function body<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}

/** Reads are tried again while the server is silent, busy or out of order; changes never are. */
async function patient(request: Request): Promise<Response> {
  for (let tries = 0; ; tries++) {
    const pause = PAUSES[tries];
    const response = await answer(request);
    if (!response) {
      if (pause === undefined) throw ApiError.offline();
      continue;
    }
    const busy = response.status === 429 || response.status >= 500;
    if (!busy || pause === undefined || request.method !== "GET") return response;
    const wanted = Number(response.headers.get("retry-after") ?? 0) * 1_000;
    if (wanted > LONGEST_PAUSE) return response;
    await sleep(Math.max(wanted || 0, pause), request.signal);
  }
}

/** An answer; none where that to a read does not begin in time. */
async function answer(request: Request): Promise<Response | undefined> {
  if (request.method !== "GET") return fetch(request.clone());
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), LATE);
  try {
    const signal = AbortSignal.any([request.signal, late.signal]);
    return await fetch(request.clone(), { signal });
  } catch (failure) {
    if (late.signal.aborted && !request.signal.aborted) return undefined;
    throw failure;
  } finally {
    clearTimeout(timer);
  }
}

function sleep(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    setTimeout(resolve, time);
  });
}

/** The first bytes of a message as it was sent, and whether that is all. */
export async function raw(id: string, signal: AbortSignal, limit = RAW_BYTES) {
  const { data } = await api.GET("/api/messages/{id}/raw", {
    params: { path: { id } },
    parseAs: "stream",
    signal,
  });
  const reader = (data as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), whole: true };
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
    if (bytes > limit) {
      await reader.cancel();
      return { text, whole: false };
    }
  }
}
