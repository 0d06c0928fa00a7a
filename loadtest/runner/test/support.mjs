import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const SCRIPTS = fileURLToPath(new URL("../..", import.meta.url));
const MAIN = join(SCRIPTS, "runner", "main.mjs");

/** Runs a script to its end: the exit code and what was printed. */
export function run(script, environment = {}, ...options) {
  const env = { PATH: process.env.PATH, ...environment };
  const child = spawn(process.execPath, [MAIN, ...options, script], { env });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (out += part));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out })));
}

/** Runs the text of a script, whose folder also has these files. */
export async function runText(text, environment = {}, files = {}) {
  const folder = mkdtempSync(join(tmpdir(), "loadtest-"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const [name, content] of Object.entries({ ...files, "script.js": text })) {
    writeFileSync(join(folder, name), content);
  }
  try {
    return await run(join(folder, "script.js"), environment);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
