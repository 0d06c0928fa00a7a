import { createSubscriber } from "svelte/reactivity";

const SECOND = 1_000;

/** The time (milliseconds since 1970), each second anew while somebody looks. */
class Now {
  #subscribe = createSubscriber((update) => {
    const timer = setInterval(update, SECOND);
    return () => clearInterval(timer);
  });

  get current(): number {
    this.#subscribe();
    return Date.now();
  }
}

export const now = new Now();
