import type { Preference } from "../lib/preferences.svelte";
import { inLanguage } from "./language";

/** What a preference is called, and its choices. */
type Words = Record<Preference, { label: string; choices: Record<string, string> }>;

const preferences: Words = {
  density: {
    label: "Rows of the list",
    choices: { comfortable: "Comfortable", compact: "Compact" },
  },
  layout: {
    label: "List and message",
    choices: { panes: "Side by side", full: "Full width, one at a time" },
  },
  zone: { label: "Time zone", choices: { local: "That of this computer", utc: "UTC" } },
  times: {
    label: "Times in lists",
    choices: { absolute: "When it was", relative: "How long ago" },
  },
  read: {
    label: "A message counts as read",
    choices: { second: "After a second in view", once: "At once", never: "Only when I say so" },
  },
  keys: { label: "Single-key shortcuts", choices: { on: "On", off: "Off" } },
};

/** Texts of the account's screens. */
export const account = inLanguage({
  title: "Account",
  parts: {
    profile: "Profile",
    password: "Password",
    sessions: "Sessions",
    preferences: "Preferences",
  },
  verified: "Confirmed",
  unverified: "Not confirmed",
  verify: "Send a link to confirm it",
  verifySent: "A mail with a link is on its way",
  noMail:
    "This server sends no mail. Whoever runs it makes a link by which the address is confirmed:",
  changeName: "Change the name",
  emailWhat:
    "A new address gets a link, and changes by it. Then all your sessions end but for one.",
  setUpWhat:
    "You came in by a link, and sign in by these from now on. Without them only this browser knows you.",
  newEmail: "New e-mail",
  changeEmail: "Change the e-mail",
  emailSent: (email: string) =>
    `If ${email} can be reached, a mail with a link is on its way. Nothing changes before its button is pressed.`,
  teams: "Teams",
  noTeams: "You are in no team. An admin of one can invite you.",
  current: "Shown now",
  switchTo: (name: string) => `Switch to ${name}`,
  change: "Switch",

  passwordWhat: "All your sessions end but for this one, which begins anew.",
  currentPassword: "Password until now",
  newPassword: "New password, of 10 characters at least",
  changePassword: "Change the password",
  passwordChanged: "The password is changed, and all other sessions have ended",
  forgotten: "Forgot it?",

  browser: "Browser",
  from: "From",
  signedIn: "Signed in",
  seen: "Last seen",
  thisOne: "This session",
  end: "End",
  endSession: (browser: string) => `End the session of ${browser}`,
  endOthers: "End all others",
  endOthersWhat: "All your sessions but this one end: other browsers have to sign in again.",
  othersEnded: "All other sessions have ended",
  unknownBrowser: "Unknown browser",

  preferencesWhat: "They are kept in this browser, and hold in all its tabs.",
  preferences,
});
