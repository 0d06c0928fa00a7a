#!/usr/bin/env node
// Runs a script of k6's: for tests and small loads.
//
//     node loadtest/runner/main.mjs [-e NAME=VALUE]… [--summary FILE] SCRIPT
//
// Ends with k6's codes: 0, 99 when a threshold does not hold, 100 when setup fails, 104 for options that it
// does not know, 107 for a script that fails to load, 108 when the script ended the test.

import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { Run } from "./run.mjs";

const say = (text) => process.stderr.write(`${text}\n`);
const USAGE = "node loadtest/runner/main.mjs [-e NAME=VALUE]… [--summary FILE] SCRIPT";

function environment(pairs) {
  const found = { ...process.env };
  for (const pair of pairs) {
    const cut = pair.indexOf("=");
    if (cut < 1) throw new Error(`-e ${pair}: wants NAME=VALUE`);
    found[pair.slice(0, cut)] = pair.slice(cut + 1);
  }
  return found;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      env: { type: "string", short: "e", multiple: true, default: [] },
      summary: { type: "string" },
    },
  });
  if (positionals.length !== 1) throw new Error(USAGE);
  const run = new Run(resolve(positionals[0]), environment(values.env), say);
  const code = await run.run();
  if (values.summary && run.data) writeFileSync(values.summary, JSON.stringify(run.data, null, 2));
  return code;
}

main().then(
  (code) => process.exit(code),
  (error) => {
    say(error.message);
    process.exit(104);
  },
);
