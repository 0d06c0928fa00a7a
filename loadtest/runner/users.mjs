// Virtual users as the main thread has them.

import { MessageChannel, Worker } from "node:worker_threads";

/** A thread with the script; it runs one function at a time. */
export class User {
  #worker;
  #answers;
  #signal;
  #settle = null;
  #ready;

  constructor(id, { script, environment, client, onAbort }) {
    const { port1, port2 } = new MessageChannel();
    const flag = new SharedArrayBuffer(4);
    this.id = id;
    this.iterations = 0;
    this.isBusy = false;
    this.#answers = port1;
    this.#signal = new Int32Array(flag);
    this.#worker = new Worker(new URL("./vu.mjs", import.meta.url), {
      workerData: { script, environment, answers: port2, flag },
      transferList: [port2],
      execArgv: ["--import", new URL("./register.mjs", import.meta.url).href],
    });
    const answer = (result, error = null) => {
      this.#answers.postMessage({ result, error });
      Atomics.store(this.#signal, 0, 1);
      Atomics.notify(this.#signal, 0);
    };
    this.#ready = new Promise((resolve, reject) => {
      this.#worker.on("error", reject);
      this.#worker.on("message", ({ type, value }) => {
        if (type === "ready") resolve(value);
        else if (type === "broken") reject(new Error(value));
        else if (type === "http")
          client.all(value).then(answer, (error) => answer(null, String(error.message)));
        else if (type === "abort") onAbort(value);
        else if (type === "done") this.#settle?.(value);
      });
    });
    this.#ready.catch(() => {});
  }

  /** What the script exports, once it is loaded. */
  ready() {
    return this.#ready;
  }

  /** Runs a function of the script; `null` when the thread was ended meanwhile. */
  async run(name, argument, is) {
    await this.#ready;
    this.isBusy = true;
    const done = await new Promise((resolve) => {
      this.#settle = resolve;
      this.#worker.postMessage({
        name,
        argument,
        is: { vu: this.id, iteration: this.iterations, ...is },
      });
    });
    this.isBusy = false;
    if (is.isIteration) this.iterations += 1;
    return done;
  }

  async end() {
    await this.#worker.terminate();
    this.#answers.close();
    this.#settle?.(null);
  }
}
