import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, it as test } from "node:test";

import { runText } from "./support.mjs";

let server;
let T;

before(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      const { pathname } = new URL(request.url, "http://x");
      if (pathname === "/late") return;
      if (pathname === "/moved") return response.writeHead(302, { Location: "/echo" }).end();
      response.writeHead(pathname === "/missing" ? 404 : 200, { "x-own-header": "yes" });
      response.end(
        JSON.stringify({
          method: request.method,
          body,
          type: request.headers["content-type"],
          list: [{ id: 7 }],
        }),
      );
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  T = `http://127.0.0.1:${server.address().port}`;
});

after(() => {
  server.closeAllConnections();
  server.close();
});

const once = (body, rest = "") => `
  import { check, fail, group, sleep } from "k6";
  import http from "k6/http";
  import exec from "k6/execution";
  export const options = { iterations: 1, thresholds: { checks: ["rate==1", "count>0"].slice(0, 1), iterations: ["count==1"] } };
  const same = (found, wanted) => check(found, { [JSON.stringify([found, wanted])]: (it) => JSON.stringify(it) === JSON.stringify(wanted) });
  ${rest}
  export default function (data) { ${body} }
`;

async function passes(body, rest, files) {
  const { code, out } = await runText(once(body, rest), { T }, files);
  assert.equal(code, 0, out);
  return out;
}

async function ends(text, code, message) {
  const found = await runText(text, { T });
  assert.equal(found.code, code, found.out);
  assert.match(found.out, message);
}

describe("runs", { concurrency: 4 }, () => {
  test("requests", () =>
    passes(`
    const T = __ENV.T;
    same(["get", "post", "put", "patch"].map((it) => http[it](T + "/echo", it === "get" ? undefined : "x").json("method")), ["GET", "POST", "PUT", "PATCH"]);
    same(http.del(T + "/echo").json("method"), "DELETE");
    same(http.request("OPTIONS", T + "/echo").json("method"), "OPTIONS");
    same(http.post(T + "/echo", { a: "1 2" }).json(), { method: "POST", body: "a=1+2", type: "application/x-www-form-urlencoded", list: [{ id: 7 }] });
    same(http.get(T + "/echo").json("list.0.id"), 7);
    same(http.get(T + "/echo").headers["X-Own-Header"], "yes");
    same(http.get(T + "/moved").status, 200);
    same(http.get(T + "/moved", { redirects: 0 }).status, 302);
    same(http.get(T + "/echo", { responseType: "none" }).body, null);
    const late = http.get(T + "/late", { timeout: "50ms" });
    same([late.status, late.error], [0, "request timeout"]);
    same(http.batch([T + "/echo", ["POST", T + "/echo", "x"], { method: "PUT", url: T + "/echo", body: "y" }]).map((it) => it.json("method")), ["GET", "POST", "PUT"]);
    same(Object.keys(http.batch({ one: T + "/echo", two: T + "/missing" })), ["one", "two"]);
  `));

  test("failures are those that are not expected", async () => {
    const text = (call) => `
    import http from "k6/http";
    export const options = { thresholds: { http_req_failed: ["rate==0"] } };
    export default function () { ${call} }
  `;
    const codes = {
      'http.get(__ENV.T + "/missing")': 99,
      'http.get(__ENV.T + "/missing", { responseCallback: http.expectedStatuses(404) })': 0,
      'http.setResponseCallback(http.expectedStatuses({ min: 400, max: 404 })); http.get(__ENV.T + "/missing")': 0,
      'http.setResponseCallback(http.expectedStatuses(404)); http.get(__ENV.T + "/echo")': 99,
    };
    const runs = Object.entries(codes).map(async ([call, code]) => {
      const found = await runText(text(call), { T });
      assert.equal(found.code, code, call + found.out);
    });
    await Promise.all(runs);
  });

  test("the other modules", () =>
    passes(
      `
    same(data, { made: 1 });
    same([__VU > 0, __ITER, exec.vu.idInTest === __VU, exec.scenario.name, exec.scenario.iterationInTest], [true, 0, true, "default", 0]);
    same(group("g", () => 5), 5);
    const began = Date.now(); sleep(0.05); same(Date.now() - began >= 45, true);
    same(crypto.sha256("abc", "hex"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    same(crypto.hmac("sha256", "key", "The quick brown fox jumps over the lazy dog", "base64"), "97yD9DBThCSxMpjmqm+xQ+9NWaFJRhdZl0edvC0aPNg=");
    same([b64encode("a?>"), b64encode("a", "rawstd"), b64encode("a?>", "url"), b64decode("YT8+", "std", "s")], ["YT8+", "YQ", "YT8-", "a?>"]);
    same([rows.length, rows[1], text], [2, "b", "from a file"]);
    for (const [metric, value] of [[new Counter("own_count"), 2], [new Gauge("own_gauge"), 3], [new Rate("own_rate"), true], [new Trend("own_trend", true), 4]]) metric.add(value);
  `,
      `
    import crypto from "k6/crypto";
    import { b64decode, b64encode } from "k6/encoding";
    import { SharedArray } from "k6/data";
    import { Counter, Gauge, Rate, Trend } from "k6/metrics";
    const rows = new SharedArray("rows", () => ["a", "b"]);
    const text = open("./data.txt");
    export function setup() { return { made: 1 }; }
    export function teardown(data) { if (data.made !== 1) throw new Error("teardown"); }
    export function handleSummary(data) {
      const { own_count, own_gauge, own_rate, own_trend, checks } = data.metrics;
      return { stdout: JSON.stringify([own_count.values.count, own_gauge.values.value, own_rate.values.rate, own_trend.contains, checks.thresholds]) };
    }
  `,
      { "data.txt": "from a file" },
    ).then((out) => assert.match(out, /\[2,3,1,"time",\{"rate==1":\{"ok":true\}\}\]/)));

  test("what the runner does not have is an error", async () => {
    await ends(
      'import ws from "k6/ws"; export default function () {}',
      107,
      /the runner has no k6\/ws/,
    );
    await ends(
      'import x from "https://jslib.k6.io/x.js"; export default function () {}',
      107,
      /no remote imports/,
    );
    await ends(
      'import { asyncRequest } from "k6/http"; export default function () {}',
      107,
      /asyncRequest/,
    );
    await ends(
      "export const options = { dns: {} }; export default function () {}",
      104,
      /no option dns/,
    );
    await ends(once("http.get(__ENV.T, { jar: 1 })", ""), 99, /no parameter jar/);
    await ends(once("exec.scenario.progress", ""), 99, /no scenario.progress/);
  });

  test("exit codes", async () => {
    const body = "export default function () { check(1, { no: () => false }); }";
    await ends(
      `import { check } from "k6"; export const options = { thresholds: { checks: ["rate==1"] } }; ${body}`,
      99,
      /FAILED checks: rate==1/,
    );
    await ends(
      'export function setup() { throw new Error("no way"); } export default function () {}',
      100,
      /no way/,
    );
    await ends("export default function () { }; syntax(", 107, /SyntaxError/);
    await ends(
      'import exec from "k6/execution"; export default function () { exec.test.abort("enough"); }',
      108,
      /ended: enough/,
    );
  });

  test("a threshold ends the test early", async () => {
    const began = Date.now();
    await ends(
      `import { check, sleep } from "k6";
     export const options = { vus: 1, duration: "60s", thresholds: { checks: [{ threshold: "rate==1", abortOnFail: true }] } };
     export default function () { check(1, { no: () => false }); sleep(0.1); }`,
      99,
      /a threshold does not hold/,
    );
    assert.ok(Date.now() - began < 30_000);
  });

  const executors = {
    "shared-iterations": [{ vus: 3, iterations: 7 }, "count==7"],
    "per-vu-iterations": [{ vus: 3, iterations: 2 }, "count==6"],
    "constant-vus": [{ vus: 2, duration: "1s" }, "count>2"],
    "ramping-vus": [{ startVUs: 1, stages: [{ duration: "1s", target: 3 }] }, "count>3"],
    "constant-arrival-rate": [{ rate: 20, duration: "1s", preAllocatedVUs: 5 }, "count>2"],
    "ramping-arrival-rate": [
      { startRate: 0, stages: [{ duration: "2s", target: 20 }], preAllocatedVUs: 5 },
      "count>2",
    ],
  };

  test("executors", async () => {
    const runs = Object.entries(executors).map(async ([executor, [config, wanted]]) => {
      const options = {
        scenarios: { a: { executor, exec: "work", ...config } },
        thresholds: { iterations: [wanted, "count<=60"] },
      };
      const { code, out } = await runText(
        `import { sleep } from "k6"; export const options = ${JSON.stringify(options)}; export function work() { sleep(0.05); }`,
      );
      assert.equal(code, 0, executor + out);
    });
    await Promise.all(runs);
  });

  test("iterations for which there is no user are dropped, and those that do not end are ended", async () => {
    const options = {
      scenarios: {
        a: {
          executor: "constant-arrival-rate",
          rate: 20,
          duration: "1s",
          preAllocatedVUs: 1,
          gracefulStop: "1s",
        },
      },
      thresholds: { dropped_iterations: ["count>=15"], iterations: ["count==0"] },
    };
    const { code, out } = await runText(
      `import { sleep } from "k6"; export const options = ${JSON.stringify(options)}; export default function () { sleep(60); }`,
    );
    assert.equal(code, 0, out);
  });
});
