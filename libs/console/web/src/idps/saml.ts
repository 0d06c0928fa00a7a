import type { Idp } from "./idps.svelte";
import { quoted, type Snippet } from "./snippets";

/** What an application that signs people in by SAML is configured with. */
export interface SamlClient {
  metadataUrl: string;
  signOnUrl: string;
  logoutUrl: string;
  /** In PEM; empty where there is none yet. */
  certificate: string;
  acsUrl: string;
  entityId: string;
  nameIdFormat: string;
  sign: Idp["samlSign"];
}

/** The certificate by which SAML is signed now: a key that only signs tokens has none. */
export function certificateOf(provider: Pick<Idp, "signingKey" | "previousKeys">): string {
  const keys = [provider.signingKey, ...provider.previousKeys];
  return keys.find(({ certificate }) => certificate !== null)?.certificate?.trim() ?? "";
}

const signsAssertion = ({ sign }: SamlClient) => sign !== "response";
const signsResponse = ({ sign }: SamlClient) => sign !== "assertion";
/** A word of Python. */
const truth = (is: boolean) => (is ? "True" : "False");

export const samlSnippets: Snippet<SamlClient>[] = [
  {
    id: "env",
    label: ".env",
    of: ({ metadataUrl, acsUrl, entityId }) => `SAML_IDP_METADATA_URL=${metadataUrl}
SAML_SP_ENTITY_ID=${entityId}
SAML_SP_ACS_URL=${acsUrl}`,
  },
  {
    id: "node",
    label: "Node (node-saml)",
    of: (client) => `import { SAML } from "@node-saml/node-saml";

const saml = new SAML({
  entryPoint: ${quoted(client.signOnUrl)},
  logoutUrl: ${quoted(client.logoutUrl)},
  idpIssuer: ${quoted(client.metadataUrl)},
  idpCert: \`${client.certificate}\`,
  issuer: ${quoted(client.entityId)},
  audience: ${quoted(client.entityId)},
  callbackUrl: ${quoted(client.acsUrl)},
  identifierFormat: ${quoted(client.nameIdFormat)},
  wantAssertionsSigned: ${signsAssertion(client)},
  wantAuthnResponseSigned: ${signsResponse(client)},
});`,
  },
  {
    id: "python",
    label: "Python (python3-saml)",
    of: (client) => `from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser

settings = OneLogin_Saml2_IdPMetadataParser.parse_remote(
    ${quoted(client.metadataUrl)}
) | {
    "strict": True,
    "sp": {
        "entityId": ${quoted(client.entityId)},
        "assertionConsumerService": {
            "url": ${quoted(client.acsUrl)},
            "binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST",
        },
        "NameIDFormat": ${quoted(client.nameIdFormat)},
    },
    "security": {
        "wantAssertionsSigned": ${truth(signsAssertion(client))},
        "wantMessagesSigned": ${truth(signsResponse(client))},
    },
}`,
  },
  {
    id: "spring",
    label: "Java (Spring Security)",
    of: ({ metadataUrl, acsUrl, entityId }) => {
      const registration = "spring.security.saml2.relyingparty.registration.trapline";
      return `${registration}.entity-id=${entityId}
${registration}.acs.location=${acsUrl}
${registration}.assertingparty.metadata-uri=${metadataUrl}`;
    },
  },
  {
    id: "curl",
    label: "curl",
    of: ({ metadataUrl }) => `curl ${metadataUrl}`,
  },
];
