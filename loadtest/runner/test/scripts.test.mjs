// Each script against a service that is right, and its thresholds against one that is not.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";

import { fake } from "./fake.mjs";
import { SCRIPTS, run } from "./support.mjs";

/** Scripts with what makes their thresholds fail. */
const FAULTS = {
  "ci-fleet.js": [
    ["wrong", "checks"],
    ["withheld", "checks"],
    ["slow", "job_duration"],
  ],
  "ingest.js": [
    ["repeated", "messages_repeated"],
    ["slow", "http_req_duration{name:send}"],
  ],
  "wait-storm.js": [
    ["withheld", "waits_missed"],
    ["wrong", "waits_wrong"],
  ],
  "search.js": [
    ["repeated", "checks"],
    ["slow", "http_req_duration{name:search}"],
  ],
  "spike.js": [["wrong", "checks"]],
  "soak.js": [["lax", "memory_growth_mib"]],
  "limits.js": [["lax", "checks"]],
};

async function against(script, patience, ...ways) {
  const service = await fake(...ways);
  const environment = {
    TRAPLINE_URL: service.url,
    TRAPLINE_API_KEY: "tl_x",
    METRICS_TOKEN: "x",
    PATIENCE: String(patience),
  };
  try {
    return await run(join(SCRIPTS, script), environment);
  } finally {
    service.close();
  }
}

describe("scripts", { concurrency: 4 }, () => {
  for (const [script, faults] of Object.entries(FAULTS)) {
    it(`${script} passes where the service is right`, async () => {
      const { code, out } = await against(script, 100);
      assert.equal(code, 0, out);
    });
    for (const [way, threshold] of faults) {
      it(`${script} fails where it is ${way}`, async () => {
        const { code, out } = await against(script, 1, way);
        assert.equal(code, 99, out);
        assert.ok(out.includes(`FAILED ${threshold}: `), out);
      });
    }
  }

  it("no key is an error that says so", async () => {
    const { code, out } = await run(join(SCRIPTS, "limits.js"));
    assert.equal(code, 107, out);
    assert.match(out, /TRAPLINE_API_KEY/);
  });
});
