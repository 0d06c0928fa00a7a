import { api, body } from "./client";
import { Resource } from "./resource.svelte";

/** The ways to sign in that this installation has. */
export const options = new Resource((signal) => body(api.GET("/api/auth/options", { signal })));
