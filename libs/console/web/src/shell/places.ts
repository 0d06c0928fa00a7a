import WebhookIcon from "@lucide/svelte/icons/webhook";

import { text } from "../text/en";

/** What the sidebar leads to beside inboxes; a new area is a line here. */
export const places = [{ path: "/webhooks", name: text.places.webhooks, icon: WebhookIcon }];
