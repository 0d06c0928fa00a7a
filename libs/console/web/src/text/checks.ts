import { count, names, number } from "./words";

const points = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Lines of the source that are named of one feature. */
const LINES = 5;

/** Texts of the checks on a message. */
export const checks = {
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

  unsubscribing: "Unsubscribing",
  notBulk: "The message does not look like one to many, and need not say how to unsubscribe.",
  oneClick: "One click is enough",
  noOneClick: "One click is not enough",
  severities: { error: "Error", warning: "Warning", notice: "Notice" },
};
