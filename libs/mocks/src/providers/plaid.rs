//! Plaid: items, accounts, transactions and transfers of API version 2020-09-14, in the sandbox.

mod accounts;
mod generated;
mod institutions;
mod items;
mod links;
mod outside;
mod transactions;
mod transfers;
mod wire;

use trapline_model::MockCategory;

pub(super) use outside::SIMULATION;

use crate::{
    Credential, Decline, Make, ObjectKind, Provider, SigningScheme, Snippet,
    auth::{Check, CredentialPlace},
    provider::{Hooks, Idempotency, MockRoute, Sdk},
};

/// The credential that is the key of webhooks.
const KEY: &str = "webhookKeyId";

/// The table.
pub(super) static PLAID: Provider = Provider {
    id: "plaid",
    name: "Plaid",
    category: MockCategory::Banking,
    credentials: &[
        Credential { name: "secretKey", make: Make::Text("{hex:30}") },
        Credential { name: "clientId", make: Make::Text("{slug}{hex:10}") },
        Credential { name: KEY, make: Make::P256 },
    ],
    auth: &[
        &[
            Check { place: CredentialPlace::Header("plaid-client-id"), is: "clientId" },
            Check { place: CredentialPlace::Header("plaid-secret"), is: "secretKey" },
        ],
        &[
            Check { place: CredentialPlace::Field("client_id"), is: "clientId" },
            Check { place: CredentialPlace::Field("secret"), is: "secretKey" },
        ],
    ],
    live: &["access-production-", "public-production-"],
    own_settings: &[],
    declines: DECLINES,
    kinds: &[
        kind("items"),
        kind("accounts"),
        kind("transactions"),
        kind("authorizations"),
        kind("transfers"),
        kind("events"),
    ],
    logs: &[],
    idempotency: Idempotency::None,
    max_body: 1 << 20,
    routes: ROUTES,
    hooks: Hooks {
        events: wire::EVENTS,
        scheme: SigningScheme::Own { secret: KEY, sign: wire::sign },
        endpoints: None,
        expects: None,
        handshake: None,
    },
    snippets: SNIPPETS,
    sdks: &[
        Sdk { language: "python", package: "plaid-python", version: "46.0.0" },
        Sdk { language: "node", package: "plaid", version: "47.0.0" },
    ],
    divergences: &[
        "Link is not there: /sandbox/public_token/create makes the public token. For an item that has to log in again, /link/token/create with its access token makes a link token, and the same text with public- in place of link- is the public token whose exchange repairs the item.",
        "The 24 transactions that an item begins with follow from its id, are dated up to 2026-01-31 and are not listed as objects; those of /sandbox/transactions/create and /transactions/refresh come after them.",
        "An item that is made with override_password error_CODE is declined with that code. A debit above what is available is declined with NSF.",
        "A transfer stays pending until /sandbox/transfer/simulate or a test moves it, unless a pace is set.",
        "Investments, liabilities, assets, income, payments and the other products are not there.",
    ],
    error: wire::error,
    finish: wire::finish,
};

const fn kind(name: &'static str) -> ObjectKind {
    ObjectKind { name, prefix: "", letters: 37 }
}

const DECLINES: &[Decline] = &[
    Decline::new(
        "ITEM_LOGIN_REQUIRED",
        &["error_ITEM_LOGIN_REQUIRED"],
        "the login details of this item have changed (credentials, MFA, or required user action) and a user login is \
         required to update this information. use Link's update mode to restore the item to a good state",
    ),
    Decline::new(
        "PRODUCT_NOT_READY",
        &["error_PRODUCT_NOT_READY"],
        "the requested product is not yet ready. please provide a webhook or try the request again later",
    ),
    Decline::new(
        "RATE_LIMIT",
        &["error_RATE_LIMIT"],
        "rate limit exceeded for attempts to access this item. please try again later",
    ),
    Decline::new(
        "INTERNAL_SERVER_ERROR",
        &["error_INTERNAL_SERVER_ERROR"],
        "an unexpected error occurred",
    ),
    Decline::new(
        "INSTITUTION_DOWN",
        &["error_INSTITUTION_DOWN"],
        "this institution is not currently responding to this request. please try again soon",
    ),
    Decline::new(
        transfers::NSF,
        &["error_NSF"],
        "Transaction likely to result in a return due to insufficient funds.",
    ),
];

const ROUTES: &[MockRoute] = &[
    MockRoute("POST", "/link/token/create", links::create_link),
    MockRoute("POST", "/sandbox/public_token/create", links::create_public),
    MockRoute("POST", "/item/public_token/exchange", links::exchange),
    MockRoute("POST", "/item/get", items::get),
    MockRoute("POST", "/item/remove", items::remove),
    MockRoute("POST", "/item/webhook/update", items::update_webhook),
    MockRoute("POST", "/accounts/get", accounts::get),
    MockRoute("POST", "/accounts/balance/get", accounts::get),
    MockRoute("POST", "/auth/get", accounts::numbers),
    MockRoute("POST", "/identity/get", accounts::identity),
    MockRoute("POST", "/transactions/sync", transactions::sync),
    MockRoute("POST", "/transactions/get", transactions::get),
    MockRoute("POST", "/transactions/refresh", transactions::refresh),
    MockRoute("POST", "/sandbox/transactions/create", transactions::create),
    MockRoute("POST", "/institutions/get", institutions::list),
    MockRoute("POST", "/institutions/get_by_id", institutions::get),
    MockRoute("POST", "/sandbox/item/reset_login", items::reset_login),
    MockRoute("POST", "/sandbox/item/fire_webhook", items::fire_webhook),
    MockRoute("POST", "/webhook_verification_key/get", wire::verification_key),
    MockRoute("POST", "/transfer/authorization/create", transfers::authorize),
    MockRoute("POST", "/transfer/create", transfers::create),
    MockRoute("POST", "/transfer/get", transfers::get),
    MockRoute("POST", "/transfer/cancel", transfers::cancel),
    MockRoute("POST", "/transfer/event/sync", transfers::events),
    MockRoute("POST", "/sandbox/transfer/simulate", transfers::simulate),
];

const SNIPPETS: &[Snippet] = &[
    Snippet {
        language: "curl",
        purpose: "connect",
        template: "curl {{baseUrl}}/institutions/get -H 'Content-Type: application/json' \\\n  \
                   -H 'PLAID-CLIENT-ID: {{clientId}}' -H 'PLAID-SECRET: {{secretKey}}' \\\n  \
                   -d '{\"count\": 10, \"offset\": 0, \"country_codes\": [\"US\"]}'\n",
    },
    Snippet {
        language: "python",
        purpose: "connect",
        template: "\
import plaid
from plaid.api import plaid_api

configuration = plaid.Configuration(
    host=\"{{baseUrl}}\",
    api_key={\"clientId\": \"{{clientId}}\", \"secret\": \"{{secretKey}}\"},
)
client = plaid_api.PlaidApi(plaid.ApiClient(configuration))
client.institutions_get({\"count\": 10, \"offset\": 0, \"country_codes\": [\"US\"]})
",
    },
    Snippet {
        language: "python",
        purpose: "webhook",
        template: "\
import hashlib
import hmac
import time

import jwt

def verify(headers, body, url):
    token = headers[\"plaid-verification\"]
    head = jwt.get_unverified_header(token)
    if head[\"alg\"] != \"ES256\":
        raise ValueError(\"the signature has another algorithm\")
    key = client.webhook_verification_key_get({\"key_id\": head[\"kid\"]}).key
    claims = jwt.decode(token, jwt.PyJWK(key.to_dict()).key, algorithms=[\"ES256\"])
    if time.time() - claims[\"iat\"] > 5 * 60:
        raise ValueError(\"the signature is too old\")
    if not hmac.compare_digest(hashlib.sha256(body).hexdigest(), claims[\"request_body_sha256\"]):
        raise ValueError(\"the signature is of another body\")
    return claims
",
    },
    Snippet {
        language: "node",
        purpose: "connect",
        template: "\
const { Configuration, PlaidApi } = require(\"plaid\");

const client = new PlaidApi(new Configuration({
  basePath: \"{{baseUrl}}\",
  baseOptions: { headers: { \"PLAID-CLIENT-ID\": \"{{clientId}}\", \"PLAID-SECRET\": \"{{secretKey}}\" } },
}));
",
    },
    Snippet {
        language: "node",
        purpose: "webhook",
        template: "\
const { createHash } = require(\"node:crypto\");
const { decodeProtectedHeader, importJWK, jwtVerify } = require(\"jose\");

async function verify(headers, body, url) {
  const token = headers[\"plaid-verification\"];
  const { kid } = decodeProtectedHeader(token);
  const { data } = await client.webhookVerificationKeyGet({ key_id: kid });
  const key = await importJWK(data.key, \"ES256\");
  const { payload } = await jwtVerify(token, key, { algorithms: [\"ES256\"], maxTokenAge: \"5 min\" });
  if (createHash(\"sha256\").update(body).digest(\"hex\") !== payload.request_body_sha256) {
    throw new Error(\"the signature is of another body\");
  }
  return payload;
}
",
    },
];
