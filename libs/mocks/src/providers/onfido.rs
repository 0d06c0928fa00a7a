//! Onfido: applicants, checks and workflow runs of API v3.6.

mod applicants;
mod checks;
mod files;
mod registered;
mod runs;
mod wire;

use trapline_model::MockCategory;

use crate::{
    Credential, Decline, Make, ObjectKind, Provider, Sign, SigningScheme, Snippet,
    auth::{Check, CredentialPlace},
    flow::Simulation,
    provider::{Hooks, Idempotency, MockRoute, Sdk},
    sign::{Algorithm, KeyForm, SignatureText},
};

const TOKEN: &str = "/v3.6/oauth/token";

/// The table.
pub(super) static ONFIDO: Provider = Provider {
    id: "onfido",
    name: "Onfido",
    category: MockCategory::Identity,
    credentials: &[
        Credential { name: "apiToken", make: Make::Text("api_sandbox.{slug}.{base62:32}") },
        Credential { name: "webhookToken", make: Make::Text("{base62:32}") },
        Credential { name: "clientId", make: Make::Text("client_{slug}{hex:10}") },
        Credential { name: "clientSecret", make: Make::Text("{base62:40}") },
    ],
    auth: &[
        &[Check { place: CredentialPlace::Prefixed("Token token="), is: "apiToken" }],
        &[Check { place: CredentialPlace::Bearer, is: "apiToken" }],
        &[
            Check { place: CredentialPlace::Client(TOKEN), is: "clientId" },
            Check { place: CredentialPlace::ClientSecret, is: "clientSecret" },
        ],
    ],
    live: &["api_live."],
    own_settings: &[],
    declines: DECLINES,
    kinds: &[
        kind("applicants"),
        kind("documents"),
        kind("live_photos"),
        kind("workflow_runs"),
        kind("checks"),
        kind("reports"),
        kind("webhooks"),
    ],
    logs: &[],
    idempotency: Idempotency::None,
    max_body: 32 << 20,
    routes: ROUTES,
    hooks: Hooks {
        events: wire::EVENTS,
        scheme: SigningScheme::Signed {
            secret: "webhookToken",
            signs: &[Sign {
                algorithm: Algorithm::HmacSha256,
                key: KeyForm::Text,
                over: "{body}",
                text: SignatureText::Hex,
                headers: &[("x-sha2-signature", "{sig}")],
            }],
        },
        endpoints: Some("webhooks"),
        expects: None,
        handshake: None,
    },
    snippets: SNIPPETS,
    sdks: &[
        Sdk { language: "python", package: "onfido-python", version: "6.2.0" },
        Sdk { language: "node", package: "@onfido/api", version: "6.2.0" },
    ],
    divergences: &[
        "A check for which the applicant provides data waits until it is resumed; a workflow run waits for no input, and has ended two steps later.",
        "The outcome follows from the applicant's last name, as the declines say; Onfido itself knows Consider only.",
        "What is uploaded is kept as name, type, size and hash; every download is a small PDF.",
        "The address of a webhook may be http.",
        "Tasks of workflow runs, videos, motion captures, watchlist monitors and the passkeys are not there.",
    ],
    error: wire::error,
    finish: wire::finish,
};

pub(super) static SIMULATION: Simulation =
    Simulation { provider: "onfido", flows: &[checks::FLOW, runs::FLOW], triggers: &[] };

const fn kind(name: &'static str) -> ObjectKind {
    ObjectKind { name, prefix: "", letters: 36 }
}

const DECLINES: &[Decline] = &[
    Decline::new(
        "consider",
        &["Consider"],
        "Reports are consider, and a workflow run is up for review.",
    ),
    Decline::new(
        "declined",
        &["Declined"],
        "Reports are consider, and a workflow run is declined.",
    ),
    Decline::new(
        "review",
        &["Review"],
        "Reports are consider, and a workflow run is up for review.",
    ),
    Decline::new(
        "abandoned",
        &["Abandoned"],
        "A check is withdrawn, and a workflow run abandoned.",
    ),
    Decline::new(
        "error",
        &["Error"],
        "A check is withdrawn, and a workflow run ends with an error.",
    ),
];

const ROUTES: &[MockRoute] = &[
    MockRoute("POST", TOKEN, wire::token),
    MockRoute("GET", "/v3.6/ping", wire::ping),
    MockRoute("POST", "/v3.6/applicants", applicants::create),
    MockRoute("GET", "/v3.6/applicants", applicants::list),
    MockRoute("GET", "/v3.6/applicants/{id}", applicants::get),
    MockRoute("PUT", "/v3.6/applicants/{id}", applicants::update),
    MockRoute("DELETE", "/v3.6/applicants/{id}", applicants::delete),
    MockRoute("POST", "/v3.6/applicants/{id}/restore", applicants::restore),
    MockRoute("POST", "/v3.6/sdk_token", applicants::sdk_token),
    MockRoute("POST", "/v3.6/documents", files::create_document),
    MockRoute("GET", "/v3.6/documents", files::list_documents),
    MockRoute("GET", "/v3.6/documents/{id}", files::get_document),
    MockRoute("GET", "/v3.6/documents/{id}/download", files::download_document),
    MockRoute("POST", "/v3.6/live_photos", files::create_photo),
    MockRoute("GET", "/v3.6/live_photos", files::list_photos),
    MockRoute("GET", "/v3.6/live_photos/{id}", files::get_photo),
    MockRoute("GET", "/v3.6/live_photos/{id}/download", files::download_photo),
    MockRoute("POST", "/v3.6/workflow_runs", runs::create),
    MockRoute("GET", "/v3.6/workflow_runs", runs::list),
    MockRoute("GET", "/v3.6/workflow_runs/{id}", runs::get),
    MockRoute("POST", "/v3.6/checks", checks::create),
    MockRoute("GET", "/v3.6/checks", checks::list),
    MockRoute("GET", "/v3.6/checks/{id}", checks::get),
    MockRoute("POST", "/v3.6/checks/{id}/resume", checks::resume),
    MockRoute("GET", "/v3.6/checks/{id}/download", checks::download),
    MockRoute("GET", "/v3.6/reports", checks::list_reports),
    MockRoute("GET", "/v3.6/reports/{id}", checks::get_report),
    MockRoute("POST", "/v3.6/webhooks", registered::create),
    MockRoute("GET", "/v3.6/webhooks", registered::list),
    MockRoute("POST", "/v3.6/webhooks/resend", registered::resend),
    MockRoute("GET", "/v3.6/webhooks/{id}", registered::get),
    MockRoute("PUT", "/v3.6/webhooks/{id}", registered::update),
    MockRoute("DELETE", "/v3.6/webhooks/{id}", registered::delete),
];

const SNIPPETS: &[Snippet] = &[
    Snippet {
        language: "curl",
        purpose: "connect",
        template: "curl {{baseUrl}}/v3.6/applicants -H 'Authorization: Token token={{apiToken}}' \\\n  \
                   -H 'Content-Type: application/json' -d '{\"first_name\": \"Ada\", \"last_name\": \"Lovelace\"}'\n",
    },
    Snippet {
        language: "python",
        purpose: "connect",
        template: "\
import onfido

configuration = onfido.Configuration(host=\"{{baseUrl}}/v3.6\", api_token=\"{{apiToken}}\")
client = onfido.DefaultApi(onfido.ApiClient(configuration))
client.list_applicants()
",
    },
    Snippet {
        language: "python",
        purpose: "webhook",
        template: "\
from onfido import WebhookEventVerifier

def verify(headers, body, url):
    verifier = WebhookEventVerifier(\"{{webhookToken}}\")
    return verifier.read_payload(body.decode(), headers[\"x-sha2-signature\"])
",
    },
    Snippet {
        language: "node",
        purpose: "connect",
        template: "\
const { Configuration, DefaultApi } = require(\"@onfido/api\");

const client = new DefaultApi(new Configuration({
  apiToken: \"{{apiToken}}\",
  basePath: \"{{baseUrl}}/v3.6\",
}));
",
    },
    Snippet {
        language: "node",
        purpose: "webhook",
        template: "\
const { WebhookEventVerifier } = require(\"@onfido/api\");

function verify(headers, body, url) {
  return new WebhookEventVerifier(\"{{webhookToken}}\").readPayload(body, headers[\"x-sha2-signature\"]);
}
",
    },
];
