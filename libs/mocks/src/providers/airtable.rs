//! Airtable: records, tables and webhooks of the Web API, v0.

mod formula;
mod formula_values;
mod lists;
mod payloads;
mod records;
mod tables;
mod webhooks;
mod wire;

use trapline_model::MockCategory;

use crate::{
    Credential, Decline, Make, ObjectKind, Provider, Sign, SigningScheme, Snippet,
    auth::{Check, CredentialPlace},
    provider::{Hooks, Idempotency, MockRoute, Sdk},
    sign::{Algorithm, KeyForm, SignatureText},
};

/// The table.
pub(super) static AIRTABLE: Provider = Provider {
    id: "airtable",
    name: "Airtable",
    category: MockCategory::Data,
    credentials: &[
        Credential { name: "accessToken", make: Make::Text("pat{slug}.{hex:64}") },
        Credential { name: "baseId", make: Make::Text("app{base62:14}") },
        Credential { name: "tableId", make: Make::Text("tbl{base62:14}") },
        // Letters of base62 are base64 of 36 bytes.
        Credential { name: "macSecretBase64", make: Make::Text("{base62:48}") },
    ],
    auth: &[&[Check { place: CredentialPlace::Bearer, is: "accessToken" }]],
    live: &[],
    own_settings: &[],
    declines: &[Decline::new(
        "INVALID_PERMISSIONS",
        &[],
        "You are not permitted to perform this operation",
    )],
    kinds: &[
        ObjectKind { name: "tables", prefix: "tbl", letters: 14 },
        ObjectKind { name: "records", prefix: "rec", letters: 14 },
        ObjectKind { name: "webhooks", prefix: "ach", letters: 14 },
        ObjectKind { name: "payloads", prefix: "", letters: 0 },
    ],
    logs: &[],
    idempotency: Idempotency::None,
    max_body: 1 << 20,
    routes: ROUTES,
    hooks: Hooks {
        events: &["record.created", "record.changed", "record.destroyed"],
        scheme: SigningScheme::Signed {
            secret: "macSecretBase64",
            signs: &[Sign {
                algorithm: Algorithm::HmacSha256,
                key: KeyForm::Base64,
                over: "{body}",
                text: SignatureText::Hex,
                headers: &[("x-airtable-content-mac", "hmac-sha256={sig}")],
            }],
        },
        endpoints: Some("webhooks"),
        expects: None,
        handshake: None,
    },
    snippets: SNIPPETS,
    sdks: &[
        Sdk { language: "python", package: "pyairtable", version: "3.5.1" },
        Sdk { language: "node", package: "airtable", version: "0.12.2" },
    ],
    divergences: &[
        "Any base id of the right form is a base, and a table exists from the first record that is written to it by name. `tableId` is the table `Table 1` of `baseId`.",
        "Fields are free: a value is kept as it came, and its type in a schema is made from the values that are there.",
        "Views, comments, attachments, users and changes of a schema are not there. `view`, `cellFormat`, `timeZone` and `typecast` change nothing.",
        "`filterByFormula` has comparisons, `&`, arithmetic, and AND, OR, NOT, XOR, IF, TRUE, FALSE, BLANK, RECORD_ID, CREATED_TIME, FIND, SEARCH, LEN, LOWER, UPPER, TRIM, CONCATENATE and VALUE; others are refused. A field that no record has is blank.",
        "Airtable's limit of 5 calls a second is not there; `rateLimit` makes one.",
        "The changes of a call come in one payload and one ping. Filters of webhooks are `recordChangeScope` and `changeTypes`; others change nothing.",
        "With `webhookUrl`, a webhook of the mock's own is listed, whose secret is `macSecretBase64`. Names of its events are not Airtable's, which has only pings.",
        "What one call writes has at most 40 KiB.",
    ],
    error: wire::error,
    finish: wire::finish,
};

const ROUTES: &[MockRoute] = &[
    MockRoute("GET", "/v0/meta/whoami", tables::whoami),
    MockRoute("GET", "/v0/meta/bases", tables::bases),
    MockRoute("GET", "/v0/meta/bases/{base}/tables", tables::list),
    MockRoute("GET", "/v0/bases/{base}/webhooks", webhooks::list),
    MockRoute("POST", "/v0/bases/{base}/webhooks", webhooks::create),
    MockRoute("DELETE", "/v0/bases/{base}/webhooks/{id}", webhooks::delete),
    MockRoute("GET", "/v0/bases/{base}/webhooks/{id}/payloads", payloads::list),
    MockRoute("POST", "/v0/bases/{base}/webhooks/{id}/refresh", webhooks::refresh),
    MockRoute("POST", "/v0/bases/{base}/webhooks/{id}/enableNotifications", webhooks::enable),
    MockRoute("GET", "/v0/{base}/{table}", lists::list),
    MockRoute("POST", "/v0/{base}/{table}/listRecords", lists::list),
    MockRoute("POST", "/v0/{base}/{table}", records::create),
    MockRoute("PATCH", "/v0/{base}/{table}", records::update_many),
    MockRoute("PUT", "/v0/{base}/{table}", records::update_many),
    MockRoute("DELETE", "/v0/{base}/{table}", records::delete_many),
    MockRoute("GET", "/v0/{base}/{table}/{id}", records::get),
    MockRoute("PATCH", "/v0/{base}/{table}/{id}", records::update),
    MockRoute("PUT", "/v0/{base}/{table}/{id}", records::update),
    MockRoute("DELETE", "/v0/{base}/{table}/{id}", records::delete),
];

const SNIPPETS: &[Snippet] = &[
    Snippet {
        language: "curl",
        purpose: "connect",
        template: "curl {{baseUrl}}/v0/{{baseId}}/{{tableId}} -H 'Authorization: Bearer {{accessToken}}' \\\n  \
                   -H 'Content-Type: application/json' -d '{\"records\": [{\"fields\": {\"Name\": \"Ada\"}}]}'\n",
    },
    Snippet {
        language: "python",
        purpose: "connect",
        template: r#"from pyairtable import Api

client = Api("{{accessToken}}", endpoint_url="{{baseUrl}}")
table = client.table("{{baseId}}", "{{tableId}}")
table.create({"Name": "Ada"})
"#,
    },
    Snippet {
        language: "python",
        purpose: "webhook",
        template: r#"from pyairtable.models import WebhookNotification

def verify(headers, body, url):
    return WebhookNotification.from_request(
        body.decode(), headers["x-airtable-content-mac"], "{{macSecretBase64}}"
    )
"#,
    },
    Snippet {
        language: "node",
        purpose: "connect",
        template: r#"const Airtable = require("airtable");

const client = new Airtable({ apiKey: "{{accessToken}}", endpointUrl: "{{baseUrl}}" });
const table = client.base("{{baseId}}")("{{tableId}}");
const first = table.create({ Name: "Ada" });
"#,
    },
    Snippet {
        language: "node",
        purpose: "webhook",
        template: r#"const { createHmac, timingSafeEqual } = require("node:crypto");

function verify(headers, body, url) {
  const key = Buffer.from("{{macSecretBase64}}", "base64");
  const wanted = "hmac-sha256=" + createHmac("sha256", key).update(body).digest("hex");
  const given = String(headers["x-airtable-content-mac"]);
  if (given.length !== wanted.length || !timingSafeEqual(Buffer.from(given), Buffer.from(wanted))) {
    throw new Error("the signature is wrong");
  }
  return JSON.parse(body);
}
"#,
    },
];
