// The HTTP client of all virtual users, in the main thread.

import http from "node:http";
import https from "node:https";

// An answer larger than this is cut off with an error.
const LARGEST = 64 * 1024 * 1024;

export class Client {
  constructor({
    batch = 20,
    batchPerHost = 6,
    insecureSkipTLSVerify = false,
    userAgent = "trapline-loadtest",
  } = {}) {
    this.batch = batch;
    this.perHost = batchPerHost;
    this.userAgent = userAgent;
    const options = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 };
    this.agents = {
      "http:": new http.Agent(options),
      "https:": new https.Agent({ ...options, rejectUnauthorized: !insecureSkipTLSVerify }),
    };
  }

  /** Makes requests at once, as far as the options allow; a single one is sent as it is. */
  async all(requests) {
    const answers = new Array(requests.length);
    const perHost = new Map();
    let next = 0;
    const take = async () => {
      while (next < requests.length) {
        const index = next++;
        const host = new URL(requests[index].url).host;
        const busy = perHost.get(host) ?? [];
        perHost.set(host, busy);
        while (busy.length >= this.perHost) await Promise.race(busy);
        const one = this.one(requests[index]).then((answer) => {
          answers[index] = answer;
          busy.splice(busy.indexOf(one), 1);
        });
        busy.push(one);
        await one;
      }
    };
    await Promise.all(Array.from({ length: Math.min(this.batch, requests.length) }, take));
    return answers;
  }

  /** One request with its redirects; an error is an answer with the status 0. */
  async one(request) {
    const began = performance.now();
    let answer = await this.send(request);
    for (
      let left = request.redirects;
      left > 0 && answer.headers.Location && [301, 302, 303, 307, 308].includes(answer.status);
      left--
    ) {
      const url = new URL(answer.headers.Location, answer.url).href;
      const keeps = answer.status >= 307;
      answer = await this.send({
        ...request,
        url,
        method: keeps ? request.method : "GET",
        body: keeps ? request.body : null,
      });
    }
    answer.timings.duration = performance.now() - began;
    return answer;
  }

  send(request) {
    const began = performance.now();
    const url = new URL(request.url);
    const agent = this.agents[url.protocol];
    const sent = request.body ? Buffer.byteLength(request.body) : 0;
    const timings = { duration: 0, waiting: 0 };
    const broken = (error) => ({
      status: 0,
      error: String(error.message ?? error),
      url: request.url,
      headers: {},
      body: null,
      timings,
      sent,
      received: 0,
    });
    if (!agent) return Promise.resolve(broken(`no protocol ${url.protocol}`));
    return new Promise((settle) => {
      const headers = { "User-Agent": this.userAgent, ...request.headers };
      if (request.body !== null) headers["Content-Length"] = sent;
      const module = url.protocol === "https:" ? https : http;
      const call = module.request(url, { method: request.method, headers, agent }, (answer) => {
        timings.waiting = performance.now() - began;
        const parts = [];
        let received = 0;
        answer.on("data", (part) => {
          received += part.length;
          if (received > LARGEST) call.destroy(new Error("the answer is too large"));
          if (request.responseType !== "none") parts.push(part);
        });
        answer.on("error", (error) => settle(broken(error)));
        answer.on("end", () => {
          const body = request.responseType === "none" ? null : Buffer.concat(parts);
          settle({
            status: answer.statusCode,
            error: "",
            url: request.url,
            headers: canonical(answer.headers),
            body:
              request.responseType === "binary" && body
                ? new Uint8Array(body).buffer
                : (body?.toString("utf8") ?? null),
            timings,
            sent,
            received,
          });
        });
      });
      const timer = setTimeout(() => call.destroy(new Error("request timeout")), request.timeout);
      call.on("close", () => clearTimeout(timer));
      call.on("error", (error) => settle(broken(error)));
      call.end(request.body ?? undefined);
    });
  }

  close() {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }
}

/** Names of headers as k6 has them: `Content-Type`. */
function canonical(headers) {
  const name = (it) => it.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase());
  return Object.fromEntries(
    Object.entries(headers).map(([key, value]) => [name(key), [value].flat().join(", ")]),
  );
}
