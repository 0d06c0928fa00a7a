import { Attempt } from "../api/attempt.svelte";
import { type Delivery, test } from "./webhooks.svelte";

/** A test of one webhook: under way, or how it went. */
export class Testing extends Attempt {
  result = $state.raw<Delivery | undefined>();

  async start(id: string): Promise<void> {
    this.result = undefined;
    await this.run(async () => {
      this.result = await test(id);
    });
  }
}
