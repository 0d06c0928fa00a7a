import { type ApiError, shown } from "../api/error";
import { type Delivery, test } from "./webhooks.svelte";

/** A test of one webhook: under way, or how it went. */
export class Testing {
  busy = $state(false);
  result = $state.raw<Delivery | undefined>();
  error = $state.raw<ApiError | undefined>();

  async run(id: string): Promise<void> {
    this.busy = true;
    this.result = this.error = undefined;
    try {
      this.result = await test(id);
    } catch (failure) {
      this.error = shown(failure);
    }
    this.busy = false;
  }
}
