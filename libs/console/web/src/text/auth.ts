import type { Schema } from "../api/client";
import { inLanguage } from "./language";

type Purpose = Schema["LinkRequest"]["purpose"];

/** What a link does: said before its button is pressed, and on it. */
const links: Record<Purpose, { title: string; what: string; button: string }> = {
  first_owner: {
    title: "Become the owner",
    what: "You will own this server's first team. This works once.",
    button: "Sign in as owner",
  },
  invitation: {
    title: "Join a team",
    what: "You will be a member of the team, and signed in there.",
    button: "Join the team",
  },
  new_address: {
    title: "Change your address",
    what: "You sign in with this address from then on, and all your sessions end but for a new one here.",
    button: "Change the address",
  },
  password: {
    title: "Choose a new password",
    what: "The new password is set, and all your sessions end but for a new one here.",
    button: "Set the password and sign in",
  },
  sign_up: {
    title: "Confirm your address",
    what: "Your account is made, with a team of its own, and you are signed in.",
    button: "Make the account and sign in",
  },
  verify: {
    title: "Confirm your address",
    what: "The address of your account is confirmed, and you are signed in.",
    button: "Confirm the address",
  },
};

/** Texts of the pages for whoever is not signed in yet. */
export const auth = inLanguage({
  links,
  canWait: "E-mail and password can wait: press the button, and set them in your account.",
  joinTeam: (team: string) => `Join the team ${team}`,
  newPassword: "New password, of 10 characters at least",
  noToken: "Open the link again",
  noTokenWhy:
    "This page works by the link that led here, and no longer has it. Open the link once more where you found it.",
  over: "This link does not work any more",
  overWhy:
    "It was used, or its time is over. Ask whoever sent it for another one; whoever runs this server makes one with",
  overCommand: "trapline link",
  signedInAs: (email: string) => `You are signed in as ${email}. That session ends by this button.`,

  signUp: "Create an account",
  signUpWhat: "You get a team of your own.",
  signUpOff: "Nobody can sign up at this server. Ask an admin of a team for an invitation.",
  mailed: "Look into your mail",
  mailedWhat: (email: string) =>
    `If ${email} can be reached, a mail with a link is on its way. The link works once.`,
  haveAccount: "I have an account",

  forgot: "Forgot your password?",
  forgotWhat: "A mail brings a link by which you choose a new one. It works for an hour.",
  sendLink: "Send a link",
  noMail: "No mail was sent",
  toSignIn: "To the sign-in",
});
