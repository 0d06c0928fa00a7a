// `run.mjs`, with a program in the place of smtpblast.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { fake } from "./fake.mjs";
import { SCRIPTS } from "./support.mjs";

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "joined-"));
});

after(() => rmSync(folder, { recursive: true }));

/** Runs `limits.js` beside a shell script: the exit code, and the report. */
async function joined(name, mail, ...ways) {
  const [blast, report, pid] = ["blast", "report", "pid"].map((it) =>
    join(folder, `${name}-${it}`),
  );
  writeFileSync(blast, `#!/bin/sh\necho $$ >${pid}\n${mail}\n`);
  chmodSync(blast, 0o755);
  const service = await fake(...ways);
  const env = {
    PATH: process.env.PATH,
    TRAPLINE_URL: service.url,
    TRAPLINE_API_KEY: "tl_x",
    METRICS_TOKEN: "x",
    PATIENCE: "100",
  };
  const options = ["--smtp", "127.0.0.1:1", "--smtpblast", blast, "--report", report];
  const args = [join(SCRIPTS, "run.mjs"), join(SCRIPTS, "limits.js"), ...options];
  const child = spawn(process.execPath, args, { env, stdio: "ignore" });
  const code = await new Promise((resolve) => child.on("close", resolve));
  service.close();
  const alive = existsSync(`/proc/${readFileSync(pid, "utf8").trim()}`);
  return { code, alive, report: existsSync(report) ? JSON.parse(readFileSync(report)) : null };
}

describe("run.mjs", { concurrency: 2 }, () => {
  it("joins both in one report", async () => {
    const { code, report } = await joined("fine", `echo '{"sent":3}'`);
    assert.equal(code, 0);
    assert.deepEqual(report.smtp, { sent: 3 });
    assert.equal(report.http.checks.values.rate, 1);
    assert.equal(report.code, 0);
  });

  it("ends the script when the mail fails", async () => {
    const { code, report } = await joined("failing", "exit 3");
    assert.equal(code, 3);
    assert.equal(report, null);
  });

  it("ends the mail when the script fails, and leaves nothing behind", async () => {
    const { code, alive } = await joined("hanging", "exec sleep 600", "lax");
    assert.equal(code, 99);
    assert.equal(alive, false);
  });
});
