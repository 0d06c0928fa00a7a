import { inLanguage } from "./language";
import { count, names, number } from "./words";

/** Texts of forwarding: the addresses, and what inboxes do by themselves. */
export const forwarding = inLanguage({
  title: "Forwarding",
  what: "Caught mail goes on only to addresses whose owners agreed.",
  noRelay:
    "This server has no relay, so it cannot send mail. Whoever runs it sets one with --relay-host.",
  mayNot: "You may not change forwarding in this team. Its owners and admins give that right.",
  add: "Add an address",
  email: "E-mail",
  ask: "Ask its owner",
  addWhat: "Its owner gets a mail with a link. Mail is forwarded there once the owner has agreed.",
  asked: (email: string) => `${email} was asked`,
  address: "Address",
  state: "State",
  added: "Added",
  confirmed: "Confirmed",
  waits: "Waits for its owner",
  resend: "Send another link",
  resendTo: (email: string) => `Send another link to ${email}`,
  delete: (email: string) => `Delete ${email}`,
  deleteTitle: "Delete address",
  deleteWhat: (email: string, inboxes: string[]) =>
    inboxes.length === 0
      ? `Nothing is forwarded to ${email} any more. No inbox forwards to it by itself.`
      : `Nothing is forwarded to ${email} any more. ${count(inboxes.length, "inbox loses", "inboxes lose")} it: ${names(inboxes)}.`,
  none: "There are no addresses yet",
  noneNext: "Add the address of somebody who shall get caught mail, such as on a real phone.",

  inboxes: "Inboxes that forward",
  noInboxes: "No inbox forwards by itself. Its settings say whether it does.",
  inbox: "Inbox",
  to: "To",
  which: "Which mail",
  all: "All of it",
  on: "On",
  off: "Off",
  nobody: "nobody",

  automatic: "Automatic forwarding",
  enable: "Forward mail as it arrives",
  recipients: "To",
  noAddresses: "No address has agreed yet.",
  toAddresses: "To the addresses",
  onlyIf: "Only mail that has all of this; an empty field takes any",
  contains: {
    from: "Sender contains",
    to: "Recipient contains",
    subject: "Subject contains",
  },
  part: (name: "from" | "to" | "subject", words: string) =>
    `${{ from: "sender", to: "recipient", subject: "subject" }[name]} contains “${words}”`,
  would: (matching: number, of: number) =>
    of === 0
      ? "The inbox has no mail yet to compare with."
      : `Would have matched ${number.format(matching)} of the last ${number.format(of)}.`,
  tooMany: (most: number) => `At most ${count(most, "address", "addresses")}.`,

  sendTo: (recipients: number) => `Forward to ${count(recipients, "address", "addresses")}`,
  forwards: {
    pending: "On its way",
    retrying: "Tried again later",
    sent: "Sent",
    failed: "Failed",
  },
  noAddressesYet: "Mail is forwarded only to addresses whose owners agreed. Add one:",
  notConfirmed: "its owner was asked, and has not agreed yet",
  addAnother: "Another address",
});
