import { type ApiError, shown } from "./error";

/** Something that the API has: what was last fetched, and how fetching goes. */
export class Resource<T> {
  value = $state.raw<T | undefined>();
  error = $state.raw<ApiError | undefined>();
  /** When the value was fetched. */
  asOf = $state.raw<Date | undefined>();
  /** Whether an answer is awaited. */
  loading = $state(false);
  #load: (signal: AbortSignal) => Promise<T>;
  #running: AbortController | undefined;

  constructor(load: (signal: AbortSignal) => Promise<T>) {
    this.#load = load;
  }

  /** Fetches anew; what was there stays until then. An older request is given up. */
  async reload(): Promise<void> {
    this.close();
    const running = new AbortController();
    this.#running = running;
    this.loading = true;
    try {
      const value = await this.#load(running.signal);
      if (this.#running !== running) return;
      this.value = value;
      this.asOf = new Date();
      this.error = undefined;
    } catch (failure) {
      if (this.#running !== running) return;
      this.error = shown(failure);
    }
    this.loading = false;
  }

  /** Gives up what is awaited. */
  close(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.loading = false;
  }
}
