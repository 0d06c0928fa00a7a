import { api, body, type Schema } from "../api/client";
import { inboxes } from "../api/inboxes.svelte";
import { Resource } from "../api/resource.svelte";
import { session } from "../api/session.svelte";
import { router } from "../router/router.svelte";

/** A link that works once, which brought somebody here. */
export class Link {
  /** Empty where the page no longer has it, since it was loaded again. */
  readonly token: string;
  /** What it asks; asking changes nothing. */
  readonly asked: Resource<Schema["LinkRequest"]>;

  constructor(token: string) {
    this.token = token;
    this.asked = new Resource((signal) =>
      body(api.GET("/api/auth/link", { params: { query: { token } }, signal })),
    );
  }

  /** Does what it is for, and goes on as whoever it signed in. */
  async use(said: { email: string; name: string; password: string }): Promise<void> {
    const asked = this.asked.value;
    const answer = {
      token: this.token,
      ...(asked?.email === null && { email: said.email }),
      ...(asked?.isNew && { name: said.name }),
      ...(asked?.wantsPassword && { password: said.password }),
    };
    session.take(await body(api.POST("/api/auth/link", { body: answer })));
    // Whoever was signed in before may have had another team.
    inboxes.forget();
    router.go("/", "replace");
  }
}

/** The token of the address bar, where it does not stay: neither a history nor somebody who looks over a
 * shoulder has it. */
export function takeToken(): string {
  const token = router.query.get("token") ?? "";
  if (token !== "") router.set({ token: null });
  return token;
}
