// The module `k6/data`.

/** An array that is made once in a thread, and that nobody changes. */
export class SharedArray {
  constructor(name, make) {
    const made = make();
    if (!Array.isArray(made)) throw new Error(`the SharedArray ${name} is made of an array`);
    return Object.freeze(made);
  }
}
