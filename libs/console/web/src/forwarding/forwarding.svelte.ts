import { api, body, type Schema } from "../api/client";
import { askOwner, isVerified, ways, type Ways } from "../api/forwarding";
import { Resource } from "../api/resource.svelte";

export type Rule = Schema["InboxForwarding"];

interface Known extends Ways {
  /** What inboxes do by themselves. */
  rules: Rule[];
}

/** The addresses of the team, and the inboxes that forward to them. */
export class Forwarding {
  readonly known = new Resource<Known>(async (signal) => {
    const [known, rules] = await Promise.all([
      ways(signal),
      body(api.GET("/api/forwarding", { signal })),
    ]);
    return { ...known, rules };
  });

  /** Whether somebody was asked and may agree at any moment. */
  readonly waits = $derived(
    this.known.value?.addresses.some((address) => !isVerified(address)) ?? false,
  );

  async ask(email: string): Promise<void> {
    await askOwner(email);
    await this.known.reload();
  }

  async delete(id: string): Promise<void> {
    await api.DELETE("/api/forward-addresses/{id}", { params: { path: { id } } });
    await this.known.reload();
  }

  /** The names of the inboxes that forward to an address by themselves. */
  losers(email: string): string[] {
    const rules = this.known.value?.rules ?? [];
    return rules.filter(({ to }) => to.includes(email)).map(({ inboxName }) => inboxName);
  }
}
