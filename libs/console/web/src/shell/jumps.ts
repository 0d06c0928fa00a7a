import type { Binding } from "../keys/keymap";
import { router } from "../router/router.svelte";
import { match } from "../router/routes";
import { mail } from "../text/mail";

/** Where `g` and a letter lead. A path with `:id` is one of the open inbox. */
const PLACES = [
  { letter: "i", path: "/inboxes", label: mail.places.inboxes },
  { letter: "c", path: "/inboxes/:id/connect", label: mail.places.connect },
  { letter: "s", path: "/inboxes/:id/settings", label: mail.places.settings },
  { letter: "w", path: "/webhooks", label: mail.places.webhooks },
  { letter: "f", path: "/forwarding", label: mail.places.forwarding },
  { letter: "p", path: "/idps", label: mail.places.idps },
  { letter: "m", path: "/mocks", label: mail.places.mocks },
  { letter: "k", path: "/team/keys", label: mail.places.keys },
  { letter: "t", path: "/team/members", label: mail.places.team },
];

/** The keys of the screens that there are, for an inbox where one is open. */
export function jumps(inbox: string | undefined): Binding[] {
  return PLACES.map(({ letter, path, label }) => ({
    keys: [`g ${letter}`],
    label,
    path: inbox === undefined ? path : path.replace(":id", inbox),
  }))
    .filter(({ path }) => match(path) !== undefined)
    .map(({ path, ...binding }) => ({ ...binding, run: () => router.go(path) }));
}
