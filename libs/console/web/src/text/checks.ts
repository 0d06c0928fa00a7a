import { inLanguage } from "./language";
import { count, names, number } from "./words";

const points = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Lines of the source that are named of one feature. */
const LINES = 5;

/** Texts of the checks on a message. */
export const checks = inLanguage({
  warnings: "Warnings",
  noWarnings: "The sender got nothing wrong that would be told of here.",
  spam: "Spam",
  isSpam: "Spam",
  isNotSpam: "Not spam",
  score: "Spam score",
  ofThreshold: (score: number, threshold: number) =>
    `${points.format(score)} points; ${points.format(threshold)} and more are spam`,
  by: (engine: string) => `Judged by ${engine}.`,
  truncated: "The message is so large that only a part of it was looked at.",
  noRules: "No rule matches.",
  rules: "Rules that match",
  points: "Points",
  pointsOf: (value: number) => points.format(value),
  rule: "Rule",
  why: "What it looks for",

  html: "Clients",
  noHtml: "The message has no HTML, which every client shows.",
  htmlScore: "How well clients show the HTML",
  ofHundred: (score: number) => `${number.format(Math.round(score))} of 100 over all clients`,
  noIssues: "Every client supports all that the HTML uses.",
  issues: "What some clients do not support",
  times: (value: number) => count(value, "time", "times"),
  lack: (none: number, part: number) =>
    `not supported by ${number.format(Math.round(none))} % of clients, in part by ${number.format(Math.round(part))} %`,
  places: (lines: number[]) => {
    const shown = [...new Set(lines)].slice(0, LINES);
    return shown.length === 0 ? "" : `In the source: line ${names(shown.map(String))}.`;
  },
  about: "About it",
  clients: "All clients, those that show it worst first",
  client: "Client",
  score100: "Of 100",
  rounded: (score: number) => number.format(Math.round(score)),
  lacks: "Not supported",
  partly: "In part",
  data: (name: string, license: string, day: string) => `By “${name}” (${license}), as of ${day}.`,

  auth: "Authentication",
  what: "What",
  result: "Result",
  domain: "Domain",
  reason: "Why",
  unknown: "unknown",
  kindOf: (result: string | null): "plain" | "ok" | "warn" => {
    if (result === "pass") return "ok";
    return result === null || result === "none" ? "plain" : "warn";
  },
  reasons: {
    no_dns: "The inbox has no DNS zone to ask.",
    no_client_ip: "Nobody said which address the mail will come from.",
    no_sender: "The envelope has no sender, and nobody said how the server greets.",
    no_signature: "The message is not signed.",
    too_many_signatures: "There are more than 20 signatures.",
    timeout: "DNS did not answer in time.",
  } as Record<string, string>,
  sources: {
    zone: "By the DNS zone of the inbox.",
    dns: "By the name servers of the server.",
    none: "Without DNS: set a DNS zone for the inbox over the API to check all of it.",
  },

  links: "Links",
  linksNote:
    "Each link and image is asked when you press the button; links that a visit uses up are left alone.",
  checkLinks: "Check links",
  asking: "Asking …",
  linkCounts: ({ checked, failed, skipped }: Record<"checked" | "failed" | "skipped", number>) =>
    `${count(checked, "address", "addresses")} asked, ${number.format(failed)} broken, ${number.format(skipped)} left alone.`,
  statusOf: (status: number | null) => (status === null ? "No answer" : `HTTP ${String(status)}`),
  skips: {
    scheme: "No web address",
    repeated: "Repeated",
    action: "A visit may use it up",
    too_many: "Beyond the first 100",
    out_of_time: "Out of time",
  } as Record<string, string>,
  linkErrors: {
    dns_error: "The name was not resolved.",
    connect_refused: "The connection was refused.",
    connect_timeout: "The connection was not made in time.",
    tls_error: "There is no TLS connection with a certificate that holds.",
    timeout: "No answer came in time.",
    reset: "The connection broke off.",
    address_not_allowed: "The server does not connect to this address.",
    too_many_redirects: "It leads on more than five times.",
    bad_redirect: "It leads on to nowhere.",
    no_one_click: "The message does not announce one click.",
  } as Record<string, string>,

  unsubscribing: "Unsubscribing",
  sendOneClick: "Unsubscribe by one click",
  unsubscribed: "Unsubscribed",
  notUnsubscribed: "Not unsubscribed",
  notBulk: "The message does not look like one to many, and need not say how to unsubscribe.",
  oneClick: "One click is enough",
  noOneClick: "One click is not enough",
  severities: { error: "Error", warning: "Warning", notice: "Notice" },
});
