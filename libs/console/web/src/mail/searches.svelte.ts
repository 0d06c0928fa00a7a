/** Searches that are offered again. */
const MOST = 10;

/** The last searches of this tab, newest first. */
class Searches {
  last = $state.raw<string[]>([]);

  add(typed: string): void {
    const search = typed.trim();
    if (search === "") return;
    this.last = [search, ...this.last.filter((other) => other !== search)].slice(0, MOST);
  }
}

export const searches = new Searches();
