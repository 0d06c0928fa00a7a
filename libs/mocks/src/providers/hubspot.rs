//! `HubSpot`: contacts, companies, deals and their like of API v3.

mod association_types;
mod associations;
mod batches;
mod records;
mod search;
mod wire;

use trapline_model::MockCategory;

use crate::{
    Credential, Decline, Make, ObjectKind, Provider, Sign, SigningScheme, Snippet,
    auth::{Check, CredentialPlace},
    flow::{Simulation, Trigger},
    provider::{Hooks, Idempotency, MockRoute, Sdk},
    sign::{Algorithm, KeyForm, SignatureText},
};

/// The table.
pub(super) static HUBSPOT: Provider = Provider {
    id: "hubspot",
    name: "HubSpot",
    category: MockCategory::Crm,
    credentials: &[
        Credential { name: "accessToken", make: Make::Text("pat-eu1-{slug}-{hex:32}") },
        Credential { name: "clientSecret", make: Make::Text("{hex:32}") },
    ],
    auth: &[&[Check { place: CredentialPlace::Bearer, is: "accessToken" }]],
    live: &[],
    own_settings: &[],
    declines: &[Decline::new(
        "FORBIDDEN",
        &[],
        "This app hasn't been granted all required scopes to make this call.",
    )],
    kinds: &[ObjectKind { name: "records", prefix: "", letters: 0 }],
    logs: &[],
    idempotency: Idempotency::None,
    max_body: 1 << 20,
    routes: ROUTES,
    hooks: Hooks {
        events: &[
            "contact.creation",
            "contact.deletion",
            "contact.propertyChange",
            "contact.merge",
            "contact.associationChange",
            "company.creation",
            "company.deletion",
            "company.propertyChange",
            "company.merge",
            "company.associationChange",
            "deal.creation",
            "deal.deletion",
            "deal.propertyChange",
            "deal.merge",
            "deal.associationChange",
            "ticket.creation",
            "ticket.deletion",
            "ticket.propertyChange",
            "ticket.merge",
            "ticket.associationChange",
        ],
        scheme: SigningScheme::Signed {
            secret: "clientSecret",
            signs: &[
                Sign {
                    algorithm: Algorithm::HmacSha256,
                    key: KeyForm::Text,
                    over: "POST{url}{body}{ms}",
                    text: SignatureText::Base64,
                    headers: &[
                        ("x-hubspot-signature-v3", "{sig}"),
                        ("x-hubspot-request-timestamp", "{ms}"),
                    ],
                },
                Sign {
                    algorithm: Algorithm::Sha256,
                    key: KeyForm::Text,
                    over: "{secret}{body}",
                    text: SignatureText::Hex,
                    headers: &[
                        ("x-hubspot-signature", "{sig}"),
                        ("x-hubspot-signature-version", "v1"),
                    ],
                },
            ],
        },
        endpoints: None,
        expects: None,
        handshake: None,
    },
    snippets: SNIPPETS,
    sdks: &[
        Sdk { language: "python", package: "hubspot-api-client", version: "12.0.0" },
        Sdk { language: "node", package: "@hubspot/api-client", version: "13.5.0" },
    ],
    divergences: &[
        "Properties, owners, pipelines, labels of associations that an app defines, and OAuth are not there.",
        "Associations are of the types that HubSpot has by itself, between contacts, companies, deals, tickets and line items. Those of an object that is archived are gone.",
        "Any property is taken, and kept as text.",
        "Only the e-mail address of contacts is unique.",
    ],
    error: wire::error,
    finish: wire::finish,
};

/// What a person does in the provider's own pages.
pub(super) static SIMULATION: Simulation = Simulation {
    provider: "hubspot",
    flows: &[],
    triggers: &[
        Trigger {
            event: "contact.creation",
            run: |context, _| records::outside(context, "contacts"),
        },
        Trigger {
            event: "company.creation",
            run: |context, _| records::outside(context, "companies"),
        },
        Trigger { event: "deal.creation", run: |context, _| records::outside(context, "deals") },
        Trigger {
            event: "ticket.creation",
            run: |context, _| records::outside(context, "tickets"),
        },
        Trigger { event: "contact.propertyChange", run: records::edited },
        Trigger { event: "company.propertyChange", run: records::edited },
        Trigger { event: "deal.propertyChange", run: records::edited },
        Trigger { event: "ticket.propertyChange", run: records::edited },
    ],
};

const ROUTES: &[MockRoute] = &[
    MockRoute("GET", "/crm/v3/objects/{type}", records::list),
    MockRoute("POST", "/crm/v3/objects/{type}", records::create),
    MockRoute("GET", "/crm/v3/objects/{type}/{id}", records::get),
    MockRoute("PATCH", "/crm/v3/objects/{type}/{id}", records::update),
    MockRoute("DELETE", "/crm/v3/objects/{type}/{id}", records::archive),
    MockRoute("POST", "/crm/v3/objects/{type}/search", search::search),
    MockRoute("POST", "/crm/v3/objects/{type}/batch/create", batches::create),
    MockRoute("POST", "/crm/v3/objects/{type}/batch/read", batches::read),
    MockRoute("POST", "/crm/v3/objects/{type}/batch/update", batches::update),
    MockRoute("POST", "/crm/v3/objects/{type}/batch/archive", batches::archive),
    MockRoute("POST", "/crm/v3/objects/{type}/batch/upsert", batches::upsert),
    MockRoute("POST", "/crm/v3/objects/{type}/merge", records::merge),
    MockRoute("GET", "/crm/v4/objects/{type}/{id}/associations/{to}", associations::list),
    MockRoute(
        "PUT",
        "/crm/v4/objects/{type}/{id}/associations/default/{to}/{other}",
        associations::put_usual,
    ),
    MockRoute("PUT", "/crm/v4/objects/{type}/{id}/associations/{to}/{other}", associations::put),
    MockRoute(
        "DELETE",
        "/crm/v4/objects/{type}/{id}/associations/{to}/{other}",
        associations::delete,
    ),
    MockRoute("GET", "/crm/v4/associations/{type}/{to}/labels", associations::labels),
    MockRoute("POST", "/crm/v4/associations/{type}/{to}/batch/read", associations::read_batch),
    MockRoute("POST", "/crm/v4/associations/{type}/{to}/batch/create", associations::create_batch),
    MockRoute(
        "POST",
        "/crm/v4/associations/{type}/{to}/batch/associate/default",
        associations::create_usual_batch,
    ),
    MockRoute(
        "POST",
        "/crm/v4/associations/{type}/{to}/batch/archive",
        associations::archive_batch,
    ),
    MockRoute("GET", "/account-info/v3/details", wire::account),
];

const SNIPPETS: &[Snippet] = &[
    Snippet {
        language: "curl",
        purpose: "connect",
        template: "curl {{baseUrl}}/crm/v3/objects/contacts -H 'Authorization: Bearer {{accessToken}}' \\\n  \
                   -H 'Content-Type: application/json' -d '{\"properties\": {\"email\": \"ada@example.com\"}}'\n",
    },
    Snippet {
        language: "python",
        purpose: "connect",
        template: r#"from hubspot import HubSpot

client = HubSpot(access_token="{{accessToken}}", host="{{baseUrl}}")
client.crm.contacts.basic_api.get_page(limit=1)
"#,
    },
    Snippet {
        language: "python",
        purpose: "webhook",
        template: r#"import json

from hubspot.utils.signature import Signature

def verify(headers, body, url):
    is_valid = Signature.is_valid(
        signature=headers["x-hubspot-signature-v3"],
        client_secret="{{clientSecret}}",
        request_body=body.decode(),
        http_uri=url,
        signature_version="v3",
        timestamp=headers["x-hubspot-request-timestamp"],
    )
    if not is_valid:
        raise ValueError("the signature is wrong")
    return json.loads(body)
"#,
    },
    Snippet {
        language: "node",
        purpose: "connect",
        template: r#"const { Client } = require("@hubspot/api-client");

const client = new Client({ accessToken: "{{accessToken}}", basePath: "{{baseUrl}}" });
const first = client.crm.contacts.basicApi.getPage(1);
"#,
    },
    Snippet {
        language: "node",
        purpose: "webhook",
        template: r#"const { Signature } = require("@hubspot/api-client");

function verify(headers, body, url) {
  const isValid = Signature.isValid({
    signature: headers["x-hubspot-signature-v3"],
    clientSecret: "{{clientSecret}}",
    requestBody: body,
    url,
    method: "POST",
    signatureVersion: "v3",
    timestamp: Number(headers["x-hubspot-request-timestamp"]),
  });
  if (!isValid) throw new Error("the signature is wrong");
  return JSON.parse(body);
}
"#,
    },
];
