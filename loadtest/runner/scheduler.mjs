// When virtual users begin an iteration: the executors.

import { seconds } from "./options.mjs";

const TICK = 5;
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const now = () => performance.now() / 1000;

/** The value that stages lead to after so many seconds, in straight lines. */
export function level(stages, start, elapsed) {
  let from = start;
  let left = elapsed;
  for (const stage of stages) {
    const lasts = seconds(stage.duration);
    if (left < lasts) return from + ((stage.target - from) * left) / lasts;
    from = stage.target;
    left -= lasts;
  }
  return from;
}

/** How many iterations are due after so many seconds: the area under the stages. */
export function due(stages, start, elapsed) {
  let from = start;
  let left = elapsed;
  let area = 0;
  for (const stage of stages) {
    const lasts = Math.min(seconds(stage.duration), Math.max(left, 0));
    const to =
      lasts < seconds(stage.duration)
        ? from + ((stage.target - from) * lasts) / seconds(stage.duration)
        : stage.target;
    area += ((from + to) / 2) * lasts;
    left -= lasts;
    from = stage.target;
  }
  return area;
}

const total = (stages) => stages.reduce((sum, stage) => sum + seconds(stage.duration), 0);

/** One scenario. `iterate(user)` runs an iteration, `record` notes a sample, `isOver` says of an abort. */
export class Scenario {
  constructor(config, users, { iterate, record, isOver }) {
    Object.assign(this, { config, users, iterate, record, isOver });
  }

  /** Runs it to its end; iterations that go on after `gracefulStop` end with their threads. */
  async run() {
    await wait(seconds(this.config.startTime ?? 0) * 1000);
    this.began = now();
    const work = this[this.config.executor]();
    await work;
  }

  elapsed() {
    return now() - this.began;
  }

  /** Lets some users iterate as long as a condition of theirs holds. */
  async loop(lasts, goesOn) {
    const one = async (user, index) => {
      while (this.elapsed() < lasts && !this.isOver()) {
        const verdict = goesOn(user, index);
        if (verdict === "end") return;
        if (verdict) await this.iterate(user);
        else await wait(TICK);
      }
    };
    await this.within(lasts, this.users.map(one));
  }

  /** Waits for work, and no longer than `gracefulStop` after the end. */
  async within(lasts, work) {
    const grace = seconds(this.config.gracefulStop ?? "30s");
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, (lasts + grace) * 1000, "late");
    });
    const outcome = await Promise.race([Promise.all(work), late]);
    clearTimeout(timer);
    if (outcome === "late")
      await Promise.all(this.users.filter((it) => it.isBusy).map((it) => it.end()));
  }

  async "shared-iterations"() {
    let left = this.config.iterations ?? 1;
    await this.loop(seconds(this.config.maxDuration ?? "10m"), () => (left-- > 0 ? true : "end"));
  }

  async "per-vu-iterations"() {
    const most = this.config.iterations ?? 1;
    const made = new Map();
    await this.loop(seconds(this.config.maxDuration ?? "10m"), (user) => {
      made.set(user, (made.get(user) ?? 0) + 1);
      return made.get(user) <= most ? true : "end";
    });
  }

  async "constant-vus"() {
    await this.loop(seconds(this.config.duration), () => true);
  }

  async "ramping-vus"() {
    const { stages, startVUs = 1 } = this.config;
    await this.loop(total(stages), (_, index) => level(stages, startVUs, this.elapsed()) > index);
  }

  async "constant-arrival-rate"() {
    const stages = [{ duration: this.config.duration, target: this.config.rate }];
    await this.arrivals(stages, this.config.rate);
  }

  async "ramping-arrival-rate"() {
    await this.arrivals(this.config.stages, this.config.startRate ?? 0);
  }

  /** Begins iterations when they are due, whether earlier ones have ended or not. */
  async arrivals(stages, start) {
    const unit = seconds(this.config.timeUnit ?? "1s");
    const lasts = total(stages);
    const under = new Set();
    let begun = 0;
    while (this.elapsed() < lasts && !this.isOver()) {
      for (
        const wanted = Math.floor(due(stages, start, this.elapsed()) / unit);
        begun < wanted;
        begun++
      ) {
        const user = this.users.find((it) => !it.isBusy && !under.has(it));
        if (!user) {
          this.record(["dropped_iterations", "counter", 1, {}, false]);
          continue;
        }
        under.add(user);
        this.iterate(user).finally(() => under.delete(user));
      }
      await wait(TICK);
    }
    const idle = async () => {
      while (under.size > 0) await wait(TICK);
    };
    await this.within(0, [idle()]);
  }
}
