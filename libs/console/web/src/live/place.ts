/** Hidden pages of one browser that keep their streams: it has six connections a host over HTTP/1.1. */
const PLACES = ["trapline-stream-1", "trapline-stream-2"];

/** Takes one of the two places for streams of hidden pages; what gives it back. None where both are taken, or
 * where the browser has no Web Locks, as over plain http. */
export async function takePlace(): Promise<(() => void) | undefined> {
  if (!("locks" in navigator)) return undefined;
  for (const name of PLACES) {
    const leave = await take(name);
    if (leave) return leave;
  }
  return undefined;
}

/** A lock is held for as long as the promise of its callback is open. */
function take(name: string): Promise<(() => void) | undefined> {
  return new Promise((taken) => {
    void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock) return new Promise<void>((leave) => taken(leave));
      taken(undefined);
      return undefined;
    });
  });
}
