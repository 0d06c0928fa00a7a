import FolderIcon from "@lucide/svelte/icons/folder";
import ForwardIcon from "@lucide/svelte/icons/forward";
import IdpIcon from "@lucide/svelte/icons/id-card";
import InboxIcon from "@lucide/svelte/icons/inbox";
import MockIcon from "@lucide/svelte/icons/blocks";
import WebhookIcon from "@lucide/svelte/icons/webhook";

import { text } from "../text/en";

/** What the sidebar leads to beside inboxes; a new area is a line here. */
export const places = [
  { path: "/inboxes", name: text.places.inboxes, icon: InboxIcon },
  { path: "/projects", name: text.places.projects, icon: FolderIcon },
  { path: "/webhooks", name: text.places.webhooks, icon: WebhookIcon },
  { path: "/forwarding", name: text.places.forwarding, icon: ForwardIcon },
  { path: "/idps", name: text.places.idps, icon: IdpIcon },
  { path: "/mocks", name: text.places.mocks, icon: MockIcon },
];
