import { api, body, type Schema } from "../api/client";

export type HtmlReport = Schema["HtmlReport"];
export type Client = HtmlReport["clients"][number];

type Link = Schema["CheckedLink"];

const of = (id: string) => ({ path: { id }, query: {} });

/** How the server's spam engine judges a message. */
export function spamOf(id: string, signal: AbortSignal): Promise<Schema["SpamReport"]> {
  return body(api.GET("/api/messages/{id}/spam", { params: of(id), signal }));
}

/** How mail clients show a message's HTML. */
export function htmlOf(id: string, signal: AbortSignal): Promise<HtmlReport> {
  return body(api.GET("/api/messages/{id}/html-check", { params: of(id), signal }));
}

/** The clients that count, those that show it worst first. */
export function worstFirst(clients: Client[]): Client[] {
  const counting = clients.filter(({ weight }) => weight > 0);
  return counting.sort((a, b) => a.score - b.score || a.name.localeCompare(b.name));
}

/** What is wrong about unsubscribing from a message. */
export function unsubscribingOf(
  id: string,
  signal: AbortSignal,
): Promise<Schema["UnsubscribeReport"]> {
  const params = { path: { id } };
  return body(api.GET("/api/messages/{id}/unsubscribe", { params, signal }));
}

/** Has the links and images of a message asked where they lead, which may take half a minute. */
export function checkLinks(id: string): Promise<Schema["LinkCheckReport"]> {
  const params = { path: { id } };
  return body(api.POST("/api/messages/{id}/link-check", { params, body: { actions: false } }));
}

/** Whether who follows a link gets nothing. */
export function isBroken({ status, error }: Pick<Link, "status" | "error">): boolean {
  return error !== null || (status !== null && status >= 400);
}

/** Sends the request by which mailbox providers unsubscribe the reader of a message. */
export function unsubscribe(id: string): Promise<Schema["OneClickReport"]> {
  return body(api.POST("/api/messages/{id}/unsubscribe", { params: { path: { id } } }));
}

/** Whether a message would pass SPF, DKIM and DMARC, by its inbox's zone or by what needs no DNS. */
export function authOf(id: string, signal: AbortSignal): Promise<Schema["AuthReport"]> {
  return body(api.GET("/api/messages/{id}/auth", { params: of(id), signal }));
}
