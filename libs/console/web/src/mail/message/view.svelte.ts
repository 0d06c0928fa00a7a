/** How previews are shown. It stays while one goes from message to message. */
class View {
  width = $state<"phone" | "tablet" | "full">("full");
  dark = $state<"off" | "scheme" | "inverted">("off");

  nextWidth(): void {
    this.width = next(WIDTHS, this.width);
  }

  nextDark(): void {
    this.dark = next(DARKS, this.dark);
  }
}

export const WIDTHS = ["phone", "tablet", "full"] as const;
export const DARKS = ["off", "scheme", "inverted"] as const;

function next<T>(all: readonly T[], now: T): T {
  return all[(all.indexOf(now) + 1) % all.length] ?? now;
}

export const view = new View();
