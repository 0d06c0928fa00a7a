import { Attempt } from "./attempt.svelte";
import type { ApiError } from "./error";

/** An attempt at what the server limits, and how long it wants to be left alone with them. */
export class LimitedAttempt extends Attempt {
  /** Seconds until the next try can succeed. */
  wait = $state(0);
  #timer: ReturnType<typeof setInterval> | undefined;

  override async run(what: () => Promise<void>): Promise<boolean> {
    const worked = await super.run(what);
    if (!worked) this.#count(this.error?.status === 429 ? (this.error.retryAfter ?? 0) : 0);
    return worked;
  }

  /** What no field is told. */
  get rest(): ApiError | undefined {
    const issues = this.error?.issues ?? [];
    return issues.length > 0 && issues.every(({ path }) => path !== "") ? undefined : this.error;
  }

  #count(seconds: number): void {
    clearInterval(this.#timer);
    this.wait = Math.ceil(seconds);
    if (this.wait === 0) return;
    this.#timer = setInterval(() => {
      this.wait -= 1;
      if (this.wait > 0) return;
      clearInterval(this.#timer);
      this.error = undefined;
    }, 1_000);
  }
}
