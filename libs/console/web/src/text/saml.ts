import { inLanguage } from "./language";

/** Texts of what identity providers have of SAML. */
export const saml = inLanguage({
  provider: "What the application is told",
  metadata: "Metadata URL, which is the entity id too",
  signOn: "Sign-in URL (SSO)",
  logout: "Sign-out URL (SLO)",
  certificate: "Certificate",
  certificateUrl: "Certificate URL",
  rotated:
    "The keys were rotated: metadata has the former certificate too, for as long as something that it signed may be good.",

  application: "What the application is",
  applicationWhat:
    "Its own settings name these. Without an ACS URL an answer goes where the request says, after a click on a page that shows it.",
  acsUrl: "ACS URL, also called reply URL or recipient",
  entityId: "Entity id, also called audience or identifier",
  entityIdHint: "Any where it is empty.",
  sloUrl: "Sign-out URL of the application",
  sloUrlHint: "Nobody is told of a sign-out where it is empty.",
  nameIdFormat: "How the user is named, where the request does not say",
  nameIdFormats: {
    "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress": "emailAddress: the mail address",
    "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent":
      "persistent: a name that only this application knows",
    "urn:oasis:names:tc:SAML:2.0:nameid-format:transient": "transient: another name each time",
    "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified": "unspecified: the subject",
  } as Record<string, string>,
  sign: "What is signed",
  signs: {
    both: "Assertion and response",
    assertion: "The assertion",
    response: "The response",
  } as Record<string, string>,

  snippet: "Library of SAML",
  placeAcs: "<the application's ACS URL>",
  placeEntity: "<the application's entity id>",
  tryItWhat: "Signs in at the provider in a new tab, and sends the answer to the ACS URL.",
  noAcs: "An ACS URL is needed first.",
});
