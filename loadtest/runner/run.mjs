// One run of a script: its options, setup, scenarios, teardown, thresholds and summary.

import { writeFileSync } from "node:fs";

import { Client } from "./client.mjs";
import { scenarios, seconds, users } from "./options.mjs";
import { Scenario } from "./scheduler.mjs";
import { Stats } from "./stats.mjs";
import { summary, table } from "./summary.mjs";
import { User } from "./users.mjs";

/** Exit codes, as k6 documents them. */
export const CODES = {
  fine: 0,
  thresholds: 99,
  setup: 100,
  config: 104,
  script: 107,
  aborted: 108,
};

/** How often thresholds that may end the test are looked at, in milliseconds. */
const JUDGED = 1000;
/** Errors of iterations that are told; further ones are counted. */
const TOLD = 10;

export class Run {
  constructor(script, environment, say) {
    Object.assign(this, {
      script,
      environment,
      say,
      aborted: null,
      errors: 0,
      iterations: 0,
      nextUser: 0,
      all: [],
    });
    this.client = new Client();
  }

  user(environment = {}) {
    const user = new User(++this.nextUser, {
      script: this.script,
      environment: { ...this.environment, ...environment },
      client: { all: (requests) => this.client.all(requests) },
      onAbort: (reason) => this.abort(reason, CODES.aborted),
    });
    this.all.push(user);
    return user;
  }

  abort(reason, code) {
    this.aborted ??= { reason, code };
    this.say(`ended: ${reason}`);
    this.wake?.();
  }

  /** The exit code. */
  async run() {
    try {
      return await this.steps();
    } finally {
      await Promise.all(this.all.map((it) => it.end()));
      this.client.close();
    }
  }

  async steps() {
    const main = this.user();
    let script;
    try {
      script = await main.ready();
      this.options = script.options;
      this.plan = scenarios(this.options);
      this.stats = new Stats(this.options.thresholds);
    } catch (error) {
      this.say(error.message);
      return this.plan || !script ? CODES.script : CODES.config;
    }
    this.client = new Client(this.options);
    const data = await this.once(
      main,
      script.hasSetup,
      "setup",
      undefined,
      this.options.setupTimeout,
    );
    if (data === undefined) return CODES.setup;
    const began = performance.now();
    this.elapsed = () => (performance.now() - began) / 1000;
    const code = await this.scenarios(data.result);
    const lasted = this.elapsed();
    await this.once(
      main,
      script.hasTeardown,
      "teardown",
      data.result,
      this.options.teardownTimeout,
    );
    this.stats.judge(lasted);
    return this.tell(main, script, lasted, code);
  }

  /** Runs setup or teardown, where there is one; `undefined` when it fails. */
  async once(main, has, name, argument, timeout = "60s") {
    if (!has) return { result: null };
    const late = new Promise((resolve) => {
      setTimeout(resolve, seconds(timeout) * 1000, {
        error: `not done after ${timeout}`,
        samples: [],
      }).unref();
    });
    const is = { scenario: null, options: this.options };
    const done = await Promise.race([main.run(name, argument, is), late]);
    for (const sample of done?.samples ?? []) this.stats.add(sample);
    if (done?.error) {
      this.say(`${name}: ${done.error}`);
      return undefined;
    }
    return done ?? undefined;
  }

  async scenarios(data) {
    const running = Object.entries(this.plan).map(([name, config]) =>
      this.scenario(name, config, data),
    );
    const judged = setInterval(() => {
      if (this.stats.judge(this.elapsed()))
        this.abort("a threshold does not hold", CODES.thresholds);
    }, JUDGED);
    const ended = new Promise((resolve) => {
      this.wake = resolve;
    });
    try {
      await Promise.race([Promise.all(running), ended]);
    } catch (error) {
      this.abort(error.message, CODES.script);
    } finally {
      clearInterval(judged);
    }
    return this.aborted?.code ?? CODES.fine;
  }

  async scenario(name, config, data) {
    const members = Array.from({ length: users(config) }, () => this.user(config.env));
    await Promise.all(members.map((it) => it.ready()));
    const told = {
      name,
      executor: config.executor,
      startTime: Date.now(),
      tags: { ...this.options.tags, ...config.tags },
    };
    let iterations = 0;
    const record = (sample) => this.stats.add(sample);
    const iterate = async (user) => {
      const is = {
        isIteration: true,
        scenario: told,
        options: this.options,
        iterationInTest: iterations++,
        iterationInScenario: user.iterations,
      };
      const done = await user.run(config.exec ?? "default", data, is);
      for (const sample of done?.samples ?? []) record(sample);
      if (done?.error) this.note(done.error);
    };
    record(["vus_max", "gauge", this.nextUser, {}, false]);
    await new Scenario(config, members, {
      iterate,
      record,
      isOver: () => this.aborted !== null,
    }).run();
  }

  note(error) {
    this.errors += 1;
    if (this.errors <= TOLD) this.say(error);
  }

  /** Prints the summary, or writes what `handleSummary` makes of it. */
  async tell(main, script, lasted, code) {
    const data = summary(this.stats, this.options, lasted);
    const failed = this.stats.failed();
    this.data = data;
    let files = { stdout: table(data, failed) };
    if (script.hasSummary) {
      const done = await main.run("handleSummary", data, { scenario: null, options: this.options });
      if (done?.error) this.say(`handleSummary: ${done.error}`);
      files = done?.result ?? files;
    }
    for (const [name, text] of Object.entries(files)) {
      if (name === "stdout") process.stdout.write(text);
      else if (name === "stderr") process.stderr.write(text);
      else writeFileSync(name, text);
    }
    if (this.errors > TOLD) this.say(`${this.errors} iterations ended with an error`);
    if (code !== CODES.fine) return code;
    return failed.length > 0 ? CODES.thresholds : CODES.fine;
  }
}
