//! `DocuSign`: envelopes and their signers of eSignature API v2.1.

mod build;
mod connect;
mod documents;
mod envelopes;
mod lists;
mod signing;
mod templates;
mod views;
mod wire;

use trapline_model::MockCategory;

pub(super) use views::SIMULATION;

use crate::{
    Credential, Decline, Make, ObjectKind, Provider, SigningScheme, Snippet,
    auth::{Check, CredentialPlace},
    provider::{Hooks, Idempotency, MockRoute, Sdk},
};

const TOKEN: &str = "/oauth/token";
const UUID: &str = "{hex:8}-{hex:4}-4{hex:3}-8{hex:3}-{hex:12}";

/// The table.
pub(super) static DOCUSIGN: Provider = Provider {
    id: "docusign",
    name: "DocuSign",
    category: MockCategory::Esign,
    credentials: &[
        Credential { name: "accessToken", make: Make::Text("eyJ.{slug}.{base62:64}") },
        Credential { name: "integrationKey", make: Make::Text(UUID) },
        Credential { name: "clientSecret", make: Make::Text(UUID) },
        Credential { name: "userId", make: Make::Text(UUID) },
        Credential { name: "accountId", make: Make::Text(UUID) },
        Credential { name: "connectKey", make: Make::Kept("{base62:43}=") },
    ],
    auth: &[
        &[Check { place: CredentialPlace::Bearer, is: "accessToken" }],
        &[
            Check { place: CredentialPlace::Client(TOKEN), is: "integrationKey" },
            Check { place: CredentialPlace::ClientSecret, is: "clientSecret" },
        ],
        &[Check { place: CredentialPlace::Issuer(TOKEN), is: "integrationKey" }],
    ],
    live: &[],
    own_settings: &[],
    declines: DECLINES,
    kinds: &[kind("envelopes"), kind("templates"), kind("connect")],
    logs: &[],
    idempotency: Idempotency::None,
    max_body: 32 << 20,
    routes: ROUTES,
    hooks: Hooks {
        events: wire::EVENTS,
        scheme: SigningScheme::Own { secret: "connectKey", sign: wire::sign },
        endpoints: Some("connect"),
        expects: None,
        handshake: None,
    },
    snippets: SNIPPETS,
    sdks: &[
        Sdk { language: "python", package: "docusign-esign", version: "6.1.0" },
        Sdk { language: "node", package: "docusign-esign", version: "10.0.0" },
    ],
    divergences: &[
        "An envelope waits for its signers: on the page of its recipient view, by a move of the test, or by itself with the pace timed or instant. Each step signs for one signer, in the order of routingOrder.",
        "A signer whose address begins with decline@ declines at once, one with void@ makes the envelope void, and one with bounce@ answers by itself and does not sign.",
        "What is in a document is not kept: a small PDF is downloaded in its place. Tabs are kept and echoed, not filled in.",
        "The SDKs ask for tokens over https only, so over plain http they are given the access token; /oauth/token takes every grant of the integration key, and reads of a JWT who made it without verifying it.",
        "Connect sends JSON, without documents, in the order of the events. After the Connect key was replaced the one before it signs too, in X-DocuSign-Signature-2, for five minutes.",
        "An envelope that is not there is told by 404; DocuSign's OpenAPI names 400 only.",
        "Bulk sending, corrections, folders but for the recycle bin, brands, groups and workflows are not there.",
    ],
    error: wire::error,
    finish: wire::finish,
};

const fn kind(name: &'static str) -> ObjectKind {
    ObjectKind { name, prefix: "", letters: 36 }
}

const DECLINES: &[Decline] = &[
    Decline::new("declined", &["decline"], "The signer declines to sign."),
    Decline::new("voided", &["void"], "The envelope is made void."),
    Decline::new(
        "autoresponded",
        &["bounce"],
        "The signer's mail answers by itself, and nobody signs.",
    ),
];

const ROUTES: &[MockRoute] = &[
    MockRoute("POST", TOKEN, wire::token),
    MockRoute("GET", "/oauth/userinfo", wire::user_info),
    MockRoute("GET", "/restapi/v2.1/accounts/{account}", wire::account_info),
    MockRoute("POST", "/restapi/v2.1/accounts/{account}/envelopes", envelopes::create),
    MockRoute("GET", "/restapi/v2.1/accounts/{account}/envelopes", lists::envelopes),
    MockRoute("GET", "/restapi/v2.1/accounts/{account}/envelopes/{id}", envelopes::get),
    MockRoute("PUT", "/restapi/v2.1/accounts/{account}/envelopes/{id}", envelopes::update),
    MockRoute(
        "GET",
        "/restapi/v2.1/accounts/{account}/envelopes/{id}/recipients",
        envelopes::recipients,
    ),
    MockRoute("GET", "/restapi/v2.1/accounts/{account}/envelopes/{id}/documents", documents::list),
    MockRoute(
        "GET",
        "/restapi/v2.1/accounts/{account}/envelopes/{id}/documents/{document}",
        documents::download,
    ),
    MockRoute(
        "POST",
        "/restapi/v2.1/accounts/{account}/envelopes/{id}/views/recipient",
        views::recipient,
    ),
    MockRoute(
        "GET",
        "/restapi/v2.1/accounts/{account}/envelopes/{id}/audit_events",
        lists::audit_events,
    ),
    MockRoute(
        "PUT",
        "/restapi/v2.1/accounts/{account}/folders/{folder}",
        envelopes::put_into_folder,
    ),
    MockRoute("POST", "/restapi/v2.1/accounts/{account}/templates", templates::create),
    MockRoute("GET", "/restapi/v2.1/accounts/{account}/templates", templates::list),
    MockRoute("GET", "/restapi/v2.1/accounts/{account}/templates/{id}", templates::get),
    MockRoute("POST", "/restapi/v2.1/accounts/{account}/connect", connect::create),
    MockRoute("GET", "/restapi/v2.1/accounts/{account}/connect", connect::list),
    MockRoute("PUT", "/restapi/v2.1/accounts/{account}/connect", connect::update),
    MockRoute("GET", "/restapi/v2.1/accounts/{account}/connect/{id}", connect::get),
    MockRoute("DELETE", "/restapi/v2.1/accounts/{account}/connect/{id}", connect::delete),
];

const SNIPPETS: &[Snippet] = &[
    Snippet {
        language: "curl",
        purpose: "connect",
        template: "curl {{baseUrl}}/oauth/userinfo -H 'Authorization: Bearer {{accessToken}}'\n",
    },
    Snippet {
        language: "python",
        purpose: "connect",
        template: "\
import docusign_esign as docusign

client = docusign.ApiClient()
client.host = \"{{baseUrl}}/restapi\"
client.set_default_header(\"Authorization\", \"Bearer {{accessToken}}\")
account = \"{{accountId}}\"
docusign.EnvelopesApi(client).list_status_changes(account, from_date=\"2026-01-01\")
",
    },
    Snippet {
        language: "python",
        purpose: "webhook",
        template: "\
import base64
import hashlib
import hmac

def verify(headers, body, url):
    digest = hmac.new(b\"{{connectKey}}\", body, hashlib.sha256).digest()
    wanted = base64.b64encode(digest).decode()
    given = [value for name, value in headers.items() if name.startswith(\"x-docusign-signature-\")]
    if not any(hmac.compare_digest(wanted, one) for one in given):
        raise ValueError(\"the signature does not match\")
    return True
",
    },
    Snippet {
        language: "node",
        purpose: "connect",
        template: "\
const docusign = require(\"docusign-esign\");

const client = new docusign.ApiClient();
client.setBasePath(\"{{baseUrl}}/restapi\");
client.addDefaultHeader(\"Authorization\", \"Bearer {{accessToken}}\");
const account = \"{{accountId}}\";
",
    },
    Snippet {
        language: "node",
        purpose: "webhook",
        template: "\
const { createHmac, timingSafeEqual } = require(\"node:crypto\");

function verify(headers, body, url) {
  const wanted = createHmac(\"sha256\", \"{{connectKey}}\").update(body).digest();
  const given = Object.entries(headers).filter(([name]) => name.startsWith(\"x-docusign-signature-\"));
  const holds = ([, value]) => {
    const bytes = Buffer.from(value, \"base64\");
    return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
  };
  if (!given.some(holds)) throw new Error(\"the signature does not match\");
  return true;
}
",
    },
];
