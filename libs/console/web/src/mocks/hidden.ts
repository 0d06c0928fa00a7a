import { text } from "../text/en";

/** A code in which secrets are not to be read. */
export function hidden(code: string, secrets: string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, text.smtp.hidden), code);
}
