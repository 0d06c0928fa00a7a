#!/usr/bin/env node
// Load over HTTP and SMTP at once: a script by the runner (or by k6), smtpblast beside it, and one report of
// both with what the service's own metrics say.
//
//     node loadtest/run.mjs SCRIPT --smtp HOST:PORT [--rate 10] [--seconds 30] [--report FILE] [--k6]
//
// TRAPLINE_URL, TRAPLINE_API_KEY and METRICS_TOKEN are the service's. Where either of them fails, the other is
// ended, and nothing goes on after this program. It ends with the first code that is not 0.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, platform, release, tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HERE = dirname(fileURLToPath(import.meta.url));
const URL_ = process.env.TRAPLINE_URL ?? "http://127.0.0.1:8025";
// What of the service's metrics is told: the difference over the run.
const COUNTERS =
  /^(process_cpu_seconds_total|trapline_(?:smtp_mails|messages_stored|message_bytes|waits|jobs)_total)/;
const OPTIONS = {
  smtp: { type: "string" },
  rate: { type: "string", default: "10" },
  seconds: { type: "string", default: "30" },
  report: { type: "string", default: "report.json" },
  smtpblast: { type: "string", default: join(HERE, "../target/release/smtpblast") },
  k6: { type: "boolean", default: false },
};

/** A program that runs; it is ended by `end`, and `done` has its code and what it printed. */
function start(command, args) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (part) => (out += part));
  const done = new Promise((resolve) => {
    child.on("error", (error) => resolve({ code: 127, out: "", error: error.message }));
    child.on("close", (code) => resolve({ code: code ?? 1, out }));
  });
  return { done, end: () => child.kill("SIGKILL") };
}

/** The counters of the service, summed over their labels; none without a token. */
async function counters() {
  const token = process.env.METRICS_TOKEN;
  if (!token) return {};
  const answer = await fetch(`${URL_}/api/metrics`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  if (!answer.ok) throw new Error(`metrics: ${answer.status}; METRICS_TOKEN must be the service's`);
  const found = {};
  for (const line of (await answer.text()).split("\n").filter((it) => COUNTERS.test(it))) {
    const name = /^\w+/.exec(line)[0];
    found[name] = (found[name] ?? 0) + Number(line.slice(line.lastIndexOf(" ")));
  }
  return found;
}

/** Runs both to their ends, or until one of them fails; the outcomes. */
async function both(script, mail) {
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => [script, mail].forEach((it) => it.end()));
  }
  const [one, other] = [script, mail].map(async ({ done }) => {
    const outcome = await done;
    if (outcome.code !== 0) [script, mail].forEach((it) => it.end());
    return outcome;
  });
  const first = await Promise.race([one, other]);
  const outcomes = await Promise.all([one, other]);
  return { outcomes, code: first.code || outcomes.find((it) => it.code !== 0)?.code || 0 };
}

function arguments_() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  if (positionals.length !== 1 || !values.smtp)
    throw new Error("wants a script and --smtp HOST:PORT");
  return { ...values, script: positionals[0] };
}

async function main() {
  const { script, smtp, rate, seconds, report, smtpblast, k6 } = arguments_();
  const folder = mkdtempSync(join(tmpdir(), "loadtest-"));
  const summary = join(folder, "summary.json");
  try {
    const before = await counters();
    const load = k6
      ? start("k6", ["run", "--summary-export", summary, script])
      : start(process.execPath, [join(HERE, "runner/main.mjs"), "--summary", summary, script]);
    const mail = start(smtpblast, [smtp, "--rate", rate, "--duration", seconds, "--json"]);
    const { outcomes, code } = await both(load, mail);
    for (const { error } of outcomes.filter((it) => it.error)) process.stderr.write(`${error}\n`);
    if (code !== 0 && code !== 99) return code;
    const after = await counters();
    const machine = `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 1e9)} GB, ${platform()} ${release()}`;
    const told = {
      at: new Date().toISOString(),
      machine,
      script,
      profile: process.env.PROFILE ?? "smoke",
      code,
      http: JSON.parse(readFileSync(summary, "utf8")).metrics,
      smtp: outcomes[1].out ? JSON.parse(outcomes[1].out) : null,
      service: Object.fromEntries(
        Object.keys(after).map((it) => [it, after[it] - (before[it] ?? 0)]),
      ),
    };
    writeFileSync(report, JSON.stringify(told, null, 2));
    process.stdout.write(outcomes[0].out);
    return code;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

main().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`loadtest/run.mjs: ${error.message}\n`);
    process.exit(104);
  },
);
