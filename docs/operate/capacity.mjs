// What a load needs, by the costs in capacity.json, which `make bench-cluster` measures:
//
//     node docs/operate/capacity.mjs --rate 2000 --days 7
//     node docs/operate/capacity.mjs --rate 2000 --values > values.yaml
//
// A calculation and no measurement: docs/operate/capacity.md says what is left out.

import { readFileSync, realpathSync } from "node:fs";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";

export const CAPACITY = JSON.parse(readFileSync(new URL("capacity.json", import.meta.url), "utf8"));

const SECONDS = 2_628_000; // of a month
const HOURS = 730;
const DAY = 86_400;

/** What a load is made of: name, meaning, and the least and the largest value. */
export const LOAD = {
  rate: ["messages a second, day and night", 0.01, 1e6],
  bytes: ["bytes of a message", 1, 26_214_400],
  days: ["days for which each is kept", 0.01, 3650],
  watched: ["share of messages that a client waits for and a stream hears of", 0, 1],
  clients: ["waits and event streams at a time", 0, 1e7],
  webhooks: ["webhook calls for each message", 0, 100],
};

/** The load of docs/scaling.md. */
export const DEFAULTS = { ...pick(CAPACITY.assumed, ["rate", "bytes", "days"]), watched: 1, clients: 0, webhooks: 0 };

function pick(from, names) {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}

/** A kind of machine or a bill: what it is, how much of it, and dollars a month. */
export function need(load, { measured, assumed, dollars } = CAPACITY) {
  const { rate, bytes, days, watched, clients, webhooks } = load;
  const cores = (ms) => (rate * ms) / 1000 / assumed.busy;
  // One more than is needed, so that one may fail.
  const count = (ms) => Math.ceil(cores(ms) / assumed.podCores) + 1;
  const machines = (what, number, each, price) => ({
    what,
    number,
    size: `${number} of ${each} cores`,
    dollars: number * each * price * HOURS,
  });

  const smtp = count(measured.smtpMs);
  const api = Math.max(count(measured.wakeMs * watched), Math.ceil(clients / assumed.clientsOfApi) + 1);
  const workers = Math.ceil((rate * webhooks) / measured.deliveries) + 1;
  const terabytes = (rate * DAY * days * assumed.rowBytes * assumed.replicas) / 1e12;
  const byCores = cores(measured.cqlMs * assumed.replicas) / assumed.nodeCores;
  const byDisk = terabytes / assumed.nodeTb / assumed.busy;
  const nodes = Math.ceil(Math.max(byCores, byDisk, 1e-9) / assumed.replicas) * assumed.replicas;
  const shards = Math.max(1, Math.ceil(cores(measured.redisMs)));
  const puts = Math.min(rate * measured.puts, (smtp * assumed.inFlight) / assumed.putSeconds);
  const stored = (rate * DAY * days * bytes) / 1e9;
  const between = (rate * SECONDS * assumed.rowBytes * (assumed.replicas - 1)) / 1e9;

  return [
    machines("trapline smtp", smtp, assumed.podCores, dollars.coreHour),
    machines("trapline api", api, assumed.podCores, dollars.coreHour),
    machines("trapline worker", Math.max(2, workers), 2, dollars.coreHour),
    machines("CQL", nodes, assumed.nodeCores, dollars.storageCoreHour),
    machines("Redis", 2 * shards, 2, dollars.coreHour),
    machines("NATS", 3, 2, dollars.coreHour),
    bill("S3 PUTs", `${round(puts)} a second`, ((puts * SECONDS) / 1e6) * dollars.millionPuts),
    bill("S3 storage", `${round(stored)} GB`, stored * dollars.storedGb),
    bill("rows between zones", `${round(between)} GB`, between * dollars.zonesGb),
  ];
}

function bill(what, size, dollars) {
  return { what, number: 0, size, dollars };
}

function round(value) {
  return value >= 100 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(2)).toString();
}

/** Values for the chart: how many pods of each role, and what each asks for. */
export function values(load, capacity = CAPACITY) {
  const [smtp, api, worker] = need(load, capacity).map((line) => line.number);
  const perApi = load.clients / api;
  const memory = Math.max(1024, Math.ceil((perApi * capacity.measured.clientKb * 2) / 1024 / 256) * 256);
  const role = (replicas, cpu, limit) =>
    `  replicas: ${replicas}\n  resources: { requests: { cpu: "${cpu}" }, limits: { memory: ${limit}Mi } }\n`;
  return [
    `# For ${Object.entries(load).map(([name, value]) => `${name} ${value}`).join(", ")}.\n`,
    "mode: cluster\nsecrets: { existingSecret: trapline }\n",
    `smtp:\n${role(smtp, capacity.assumed.podCores, 1024)}`,
    `api:\n${role(api, capacity.assumed.podCores, memory)}`,
    `worker:\n${role(worker, 2, 512)}`,
  ].join("");
}

function table(lines) {
  const all = lines.reduce((sum, line) => sum + line.dollars, 0);
  const rows = [...lines, { what: "all", size: "", dollars: all }];
  return rows.map(({ what, size, dollars }) => `${what.padEnd(20)} ${size.padEnd(20)} $${round(dollars)} a month`).join("\n") + "\n";
}

/** The load that arguments ask for. */
export function loadOf(found) {
  const load = { ...DEFAULTS };
  for (const [name, [meaning, least, most]] of Object.entries(LOAD)) {
    if (found[name] === undefined) continue;
    const value = Number(found[name]);
    if (found[name].trim() === "" || !(value >= least && value <= most)) {
      throw new RangeError(`--${name} ${found[name]}: ${meaning}, from ${least} to ${most}`);
    }
    load[name] = value;
  }
  return load;
}

function main() {
  const numbers = Object.fromEntries(Object.keys(LOAD).map((name) => [name, { type: "string" }]));
  const options = { ...numbers, values: { type: "boolean" }, json: { type: "boolean" } };
  const found = parseArgs({ options }).values;
  const load = loadOf(found);
  if (found.json) return `${JSON.stringify(need(load))}\n`;
  return found.values ? values(load) : table(need(load));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    process.stdout.write(main());
  } catch (error) {
    const known = Object.entries(LOAD).map(([name, [meaning]]) => `  --${name.padEnd(9)} ${meaning}\n`);
    process.stderr.write(`capacity: ${error.message}\n${known.join("")}  --values    a file of values for the chart\n  --json      the table for programs\n`);
    process.exitCode = 1;
  }
}
