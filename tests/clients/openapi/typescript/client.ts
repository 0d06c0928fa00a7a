// Three calls through openapi-fetch, typed by openapi-typescript.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { env: Record<string, string> };

const api = createClient<paths>({
  baseUrl: process.env.TRAPLINE_URL!,
  headers: { Authorization: `Bearer ${process.env.TRAPLINE_API_KEY}` },
});

function good<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

const inbox = good(await api.POST("/api/inboxes", { body: { name: "TypeScript", expiresInMinutes: 5 } }));
const id: string = inbox.id;
good(await api.POST("/api/inboxes/{id}/test-message", { params: { path: { id } } }));
const { message } = good(
  await api.GET("/api/inboxes/{id}/messages/wait", {
    params: { path: { id }, query: { hasCode: true, timeout: 5 } },
  }),
);
if (!message?.codes[0]) throw new Error("no code");
