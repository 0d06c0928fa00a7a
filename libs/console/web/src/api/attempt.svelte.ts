import { type ApiError, shown } from "./error";

/** Something that is asked of the API by a form or a button: whether it is under way, and what went wrong. */
export class Attempt {
  error = $state.raw<ApiError | undefined>();
  busy = $state(false);

  /** Tries; whether it worked. */
  async run(what: () => Promise<void>): Promise<boolean> {
    this.busy = true;
    this.error = undefined;
    try {
      await what();
      return true;
    } catch (failure) {
      this.error = shown(failure);
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** What a field is told. */
  of(path: string): string | undefined {
    return this.error?.of(path);
  }
}
