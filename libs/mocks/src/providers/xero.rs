//! Xero: the Accounting API, 2.0.

mod contacts;
mod documents;
mod filters;
mod lists;
mod payments;
mod resources;
mod settings;
mod wire;

use trapline_model::MockCategory;

use crate::{
    Credential, Decline, Make, ObjectKind, Provider, Sign, SigningScheme, Snippet,
    auth::{Check, CredentialPlace},
    provider::{Hooks, Idempotency, MockRoute, Sdk},
    sign::{Algorithm, KeyForm, SignatureText},
};

/// The path at which tokens are handed out.
const TOKEN: &str = "/connect/token";

/// The table.
pub(super) static XERO: Provider = Provider {
    id: "xero",
    name: "Xero",
    category: MockCategory::Erp,
    credentials: &[
        Credential { name: "accessToken", make: Make::Text("{slug}.{base62:48}") },
        Credential { name: "clientId", make: Make::Text("{slug}{hex:18}") },
        Credential { name: "clientSecret", make: Make::Text("{base62:48}") },
        Credential {
            name: "tenantId",
            make: Make::Text("{hex:8}-{hex:4}-4{hex:3}-8{hex:3}-{hex:12}"),
        },
        Credential { name: "webhookKey", make: Make::Text("{base62:48}") },
    ],
    auth: &[
        &[
            Check { place: CredentialPlace::Bearer, is: "accessToken" },
            Check { place: CredentialPlace::Header("xero-tenant-id"), is: "tenantId" },
        ],
        &[Check { place: CredentialPlace::BearerAt(settings::CONNECTIONS), is: "accessToken" }],
        &[
            Check { place: CredentialPlace::Client(TOKEN), is: "clientId" },
            Check { place: CredentialPlace::ClientSecret, is: "clientSecret" },
        ],
    ],
    live: &[],
    own_settings: &[],
    declines: &[
        Decline::new(
            "PeriodLocked",
            &[],
            "The document date cannot be before the period lock date.",
        ),
        Decline::new(
            "AccountArchived",
            &[],
            "Account code has been archived, or is not valid for this document.",
        ),
    ],
    kinds: &[ObjectKind { name: "records", prefix: "", letters: 0 }],
    logs: &[],
    idempotency: Idempotency::Replay { header: "idempotency-key", mark: "" },
    max_body: 1 << 20,
    routes: ROUTES,
    hooks: Hooks {
        events: &[
            "INVOICE.CREATE",
            "INVOICE.UPDATE",
            "CONTACT.CREATE",
            "CONTACT.UPDATE",
            "CREDITNOTE.CREATE",
            "CREDITNOTE.UPDATE",
        ],
        scheme: SigningScheme::Signed {
            secret: "webhookKey",
            signs: &[Sign {
                algorithm: Algorithm::HmacSha256,
                key: KeyForm::Text,
                over: "{body}",
                text: SignatureText::Base64,
                headers: &[("x-xero-signature", "{sig}")],
            }],
        },
        endpoints: None,
        expects: Some(200),
        handshake: Some(wire::INTENT_TO_RECEIVE),
    },
    snippets: SNIPPETS,
    sdks: &[
        Sdk { language: "python", package: "xero-python", version: "15.2.0" },
        Sdk { language: "node", package: "xero-node", version: "20.0.0" },
    ],
    divergences: &[
        "An organisation begins empty: account codes, item codes and tax types of lines are not checked. The tax of a line is its TaxAmount, else 20% for OUTPUT2 and INPUT2, 5% for RROUTPUT and RRINPUT, and none for others.",
        "Invoices, Contacts, Payments, BankTransactions, Accounts, Items, CreditNotes and Organisation are there; attachments, history, allocations, reports and the other APIs are not.",
        "`where` has ==, !=, >, >=, <, <=, Contains, StartsWith and EndsWith, joined by AND and OR without parentheses; `order` has one field.",
        "Amounts have two decimals, and one currency, whatever its name; `unitdp` changes nothing.",
        "The intent to receive is asked for when webhookUrl is set, once well signed and once badly. Unlike with Xero, events are sent before it is given, unless the setting strict is on. Each change is an event of its own.",
        "xero-node's XeroClient cannot be pointed at another server; its AccountingApi can.",
    ],
    error: wire::error,
    finish: wire::finish,
};

const ROUTES: &[MockRoute] = &[
    MockRoute("POST", TOKEN, settings::token),
    MockRoute("GET", settings::CONNECTIONS, settings::connections),
    MockRoute("GET", "/api.xro/2.0/Organisation", settings::organisation),
    MockRoute("GET", "/api.xro/2.0/{type}", lists::list),
    MockRoute("PUT", "/api.xro/2.0/{type}", resources::create),
    MockRoute("POST", "/api.xro/2.0/{type}", resources::create_or_update),
    MockRoute("GET", "/api.xro/2.0/{type}/{id}", resources::get),
    MockRoute("POST", "/api.xro/2.0/{type}/{id}", resources::update),
    MockRoute("DELETE", "/api.xro/2.0/{type}/{id}", resources::delete),
];

const SNIPPETS: &[Snippet] = &[
    Snippet {
        language: "curl",
        purpose: "connect",
        template: "curl {{baseUrl}}/api.xro/2.0/Contacts -X PUT -H 'Authorization: Bearer {{accessToken}}' \\\n  \
                   -H 'Xero-Tenant-Id: {{tenantId}}' -H 'Content-Type: application/json' -H 'Accept: application/json' \\\n  \
                   -d '{\"Contacts\": [{\"Name\": \"Ada Ltd\"}]}'\n",
    },
    Snippet {
        language: "python",
        purpose: "connect",
        template: r#"from xero_python.accounting import AccountingApi
from xero_python.api_client import ApiClient
from xero_python.api_client.configuration import Configuration
from xero_python.api_client.oauth2 import OAuth2Token

tenant = "{{tenantId}}"
api_client = ApiClient(
    Configuration(oauth2_token=OAuth2Token(client_id="{{clientId}}", client_secret="{{clientSecret}}"))
)
token = {
    "access_token": "{{accessToken}}", "token_type": "Bearer", "expires_in": 1800,
    "expires_at": 4102444800, "refresh_token": "none", "scope": ["accounting.transactions"],
}
api_client.oauth2_token_getter(lambda: token)
api_client.oauth2_token_saver(lambda new: None)
client = AccountingApi(api_client, base_url="{{baseUrl}}/api.xro/2.0")
client.get_organisations(tenant)
"#,
    },
    Snippet {
        language: "python",
        purpose: "webhook",
        template: r#"import base64
import hashlib
import hmac
import json

def verify(headers, body, url):
    wanted = base64.b64encode(hmac.digest(b"{{webhookKey}}", body, hashlib.sha256)).decode()
    if not hmac.compare_digest(wanted, headers["x-xero-signature"]):
        raise ValueError("the signature is wrong")
    return json.loads(body)
"#,
    },
    Snippet {
        language: "node",
        purpose: "connect",
        template: r#"const { AccountingApi } = require("xero-node");

const tenant = "{{tenantId}}";
const client = new AccountingApi("{{baseUrl}}/api.xro/2.0");
client.accessToken = "{{accessToken}}";
const first = client.getOrganisations(tenant);
"#,
    },
    Snippet {
        language: "node",
        purpose: "webhook",
        template: r#"const { createHmac, timingSafeEqual } = require("node:crypto");

function verify(headers, body, url) {
  const wanted = createHmac("sha256", "{{webhookKey}}").update(body).digest("base64");
  const given = String(headers["x-xero-signature"]);
  if (given.length !== wanted.length || !timingSafeEqual(Buffer.from(given), Buffer.from(wanted))) {
    throw new Error("the signature is wrong");
  }
  return JSON.parse(body);
}
"#,
    },
];
