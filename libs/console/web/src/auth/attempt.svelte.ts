import { type ApiError, shown } from "../api/error";

/** A form that asks the API for something: whether it is under way, what went wrong, and how long the
 * server wants to be left alone. */
export class Attempt {
  error = $state.raw<ApiError | undefined>();
  busy = $state(false);
  /** Seconds until the next try can succeed. */
  wait = $state(0);
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Tries; whether it worked. */
  async run(what: () => Promise<void>): Promise<boolean> {
    this.busy = true;
    this.error = undefined;
    try {
      await what();
      return true;
    } catch (failure) {
      this.error = shown(failure);
      this.#count(this.error?.status === 429 ? (this.error.retryAfter ?? 0) : 0);
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** What a field is told. */
  of(path: string): string | undefined {
    return this.error?.of(path);
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
