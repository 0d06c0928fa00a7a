import { inLanguage } from "./language";
import { number } from "./words";

const ACTIONS: Record<string, string> = {
  inbox: "To the inboxes",
  message: "Show the SMTP settings",
  key: "To the API keys",
  wait: "Read how",
  webhook: "To the webhooks",
  invitation: "To the members",
};

export const start = inLanguage({
  title: "Get started",
  progress: (done: number, total: number) =>
    `${number.format(done)} of ${number.format(total)} done`,
  done: "done",
  open: "to do",
  action: (step: string) => ACTIONS[step] ?? "Open",
  all: "All of it is done",
  wait: "Wait for a message",
});
