import { api, body } from "./client";
import { Resource } from "./resource.svelte";

/** The team's first steps, and which of them were made. */
export const onboarding = new Resource((signal) => body(api.GET("/api/onboarding", { signal })));
