const KEY = "trapline.preferences";

/** What somebody may choose for this browser; the first of each is what holds before. */
export const choices = {
  density: ["comfortable", "compact"],
  layout: ["panes", "full"],
  zone: ["local", "utc"],
  times: ["absolute", "relative"],
  read: ["second", "once", "never"],
  keys: ["on", "off"],
} as const;

type Choices = typeof choices;
export type Preference = keyof Choices;
type Chosen = { [P in Preference]: Choices[P][number] };

/** The preferences of what was stored; what is none of the choices counts as not chosen. */
export function chosenOf(stored: string | null): Chosen {
  let said: Record<string, unknown> = {};
  try {
    said = JSON.parse(stored ?? "{}") ?? {};
  } catch {
    // Whoever wrote that was not this console.
  }
  const of = <P extends Preference>(name: P) =>
    (choices[name] as readonly unknown[]).includes(said[name]) ? said[name] : choices[name][0];
  const names = Object.keys(choices) as Preference[];
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Chosen;
}

/** The preferences of this browser, the same in all its tabs. */
class Preferences {
  // Tests of what has times run where there is no storage.
  #chosen = $state.raw(chosenOf(globalThis.localStorage?.getItem(KEY) ?? null));

  /** Follows what other tabs choose; call once. */
  start(): void {
    addEventListener("storage", ({ key, newValue }) => {
      if (key === KEY) this.#chosen = chosenOf(newValue);
    });
  }

  get<P extends Preference>(name: P): Chosen[P] {
    return this.#chosen[name];
  }

  choose<P extends Preference>(name: P, value: Chosen[P]): void {
    this.#chosen = { ...this.#chosen, [name]: value };
    localStorage.setItem(KEY, JSON.stringify(this.#chosen));
  }
}

export const preferences = new Preferences();
