import { api, body, type Schema } from "./client";

export type ForwardAddress = Schema["ForwardAddress"];

/** What there is to forward with: the server's relay, and the addresses of the team. */
export interface Ways {
  outboundEnabled: boolean;
  maxRecipients: number;
  addresses: ForwardAddress[];
}

export async function ways(signal: AbortSignal): Promise<Ways> {
  const [status, addresses] = await Promise.all([
    body(api.GET("/api/forwarding-status", { signal })),
    body(api.GET("/api/forward-addresses", { signal })),
  ]);
  return { ...status, addresses };
}

/** Adds an address, whose owner is asked; one that waits already gets another link. */
export async function askOwner(email: string): Promise<void> {
  await api.POST("/api/forward-addresses", { body: { email } });
}

/** Whether its owner agreed. */
export function isVerified({ verifiedAt }: ForwardAddress): boolean {
  return verifiedAt !== null;
}
