import { api, body } from "../api/client";

/** Messages that one request deletes or marks, at most. */
export const MANY = 200;

/** Deletes messages of an inbox; how many there were. With `keepalive` even while the page is being left. */
export async function deleteMany(id: string, ids: string[], keepalive = false): Promise<number> {
  const options = { params: { path: { id } }, body: { ids }, keepalive };
  return (await body(api.POST("/api/inboxes/{id}/messages/delete", options))).changed;
}

/** Marks messages of an inbox; how many were marked otherwise. */
export async function markMany(id: string, ids: string[], isRead: boolean): Promise<number> {
  const options = { params: { path: { id } }, body: { ids, isRead } };
  return (await body(api.POST("/api/inboxes/{id}/messages/read", options))).changed;
}

/** As many at once as a request takes. */
export function batches(ids: string[]): string[][] {
  const count = Math.ceil(ids.length / MANY);
  return Array.from({ length: count }, (_, at) => ids.slice(at * MANY, (at + 1) * MANY));
}
