//! Stripe: payments. API of 2026-08-26, as stripe-python 16 and stripe-node 23 use it.

mod cards;
mod charges;
mod customers;
mod intents;
mod lists;
mod registered;
mod sessions;
mod setups;
mod simulated;
mod wire;

use trapline_model::MockCategory;

use crate::{
    Credential, Decline, Make, ObjectKind, Provider, Sign, SigningScheme, Snippet,
    auth::{Check, CredentialPlace},
    provider::{Hooks, Idempotency, MockRoute, OwnSetting, Sdk},
    sign::{Algorithm, KeyForm, SignatureText},
};

/// The table.
pub(super) static STRIPE: Provider = Provider {
    id: "stripe",
    name: "Stripe",
    category: MockCategory::Payments,
    credentials: &[
        Credential { name: "secretKey", make: Make::Text("sk_test_{slug}{base62:24}") },
        Credential { name: "publishableKey", make: Make::Text("pk_test_{slug}{base62:24}") },
        Credential { name: "webhookSecret", make: Make::Text("whsec_{base62:32}") },
    ],
    auth: &[
        &[Check { place: CredentialPlace::Bearer, is: "secretKey" }],
        &[Check { place: CredentialPlace::BasicUser, is: "secretKey" }],
    ],
    live: &["sk_live_", "rk_live_"],
    own_settings: &[OwnSetting {
        name: "apiVersion",
        description: "The api_version of events.",
        default: "2026-08-26.dahlia",
    }],
    declines: DECLINES,
    kinds: &[
        kind("payments", "pi_", 24),
        kind("setups", "seti_", 24),
        kind("methods", "pm_", 24),
        kind("customers", "cus_", 14),
        kind("charges", "ch_", 24),
        kind("refunds", "re_", 24),
        kind("events", "evt_", 24),
        kind("endpoints", "we_", 24),
        kind("sessions", "cs_test_", 24),
        kind("disputes", "du_", 24),
    ],
    logs: &[],
    idempotency: Idempotency::Replay { header: "idempotency-key", mark: "idempotent-replayed" },
    max_body: 1 << 20,
    routes: ROUTES,
    hooks: Hooks {
        events: &[
            "payment_intent.created",
            "payment_intent.succeeded",
            "payment_intent.payment_failed",
            "payment_intent.canceled",
            "payment_intent.requires_action",
            "payment_intent.amount_capturable_updated",
            "charge.succeeded",
            "charge.failed",
            "charge.captured",
            "charge.refunded",
            "refund.created",
            "customer.created",
            "customer.updated",
            "customer.deleted",
            "payment_method.attached",
            "setup_intent.succeeded",
            "setup_intent.setup_failed",
            "checkout.session.completed",
            "checkout.session.expired",
            "charge.dispute.created",
            "refund.failed",
        ],
        scheme: SigningScheme::Signed {
            secret: "webhookSecret",
            signs: &[Sign {
                algorithm: Algorithm::HmacSha256,
                key: KeyForm::Text,
                over: "{t}.{body}",
                text: SignatureText::Hex,
                headers: &[("stripe-signature", "t={t},v1={sig}")],
            }],
        },
        endpoints: Some("endpoints"),
    },
    snippets: SNIPPETS,
    sdks: &[
        Sdk { language: "python", package: "stripe", version: "16.1.0" },
        Sdk { language: "node", package: "stripe", version: "23.1.0" },
    ],
    divergences: &[
        "Products, prices, subscriptions and invoices are not there: the line items of a Checkout session have price_data, and its mode is payment or setup.",
        "Checkout and 3-D Secure are one plain page each, with a button for each outcome. Checkout pays with the card pm_card_visa.",
        "Disputes come by a trigger only, and stay as they are.",
        "expand[] takes names at the top of an object.",
        "stripe-node takes no path in its host: the server finds the mock by its key, so that a server below a path of its own needs a proxy that adds it.",
        "Stripe.js in a browser cannot be pointed at another server.",
    ],
    error: wire::error,
    finish: wire::finish,
};

pub(super) use simulated::SIMULATION;

const fn kind(name: &'static str, prefix: &'static str, letters: usize) -> ObjectKind {
    ObjectKind { name, prefix, letters }
}

const DECLINES: &[Decline] = &[
    Decline::new(
        "generic_decline",
        &[
            "pm_card_chargeDeclined",
            "pm_card_visa_chargeDeclined",
            "4000000000000002",
            "pm_card_chargeCustomerFail",
            "4000000000000341",
        ],
        "Your card was declined.",
    ),
    Decline::new(
        "insufficient_funds",
        &[
            "pm_card_chargeDeclinedInsufficientFunds",
            "pm_card_visa_chargeDeclinedInsufficientFunds",
            "4000000000009995",
        ],
        "Your card has insufficient funds.",
    ),
    Decline::new(
        "lost_card",
        &[
            "pm_card_chargeDeclinedLostCard",
            "pm_card_visa_chargeDeclinedLostCard",
            "4000000000009987",
        ],
        "Your card was declined.",
    ),
    Decline::new(
        "stolen_card",
        &[
            "pm_card_chargeDeclinedStolenCard",
            "pm_card_visa_chargeDeclinedStolenCard",
            "4000000000009979",
        ],
        "Your card was declined.",
    ),
    Decline::new(
        "expired_card",
        &[
            "pm_card_chargeDeclinedExpiredCard",
            "pm_card_visa_chargeDeclinedExpiredCard",
            "4000000000000069",
        ],
        "Your card has expired.",
    ),
    Decline::new(
        "incorrect_cvc",
        &[
            "pm_card_chargeDeclinedIncorrectCvc",
            "pm_card_visa_chargeDeclinedIncorrectCvc",
            "4000000000000127",
        ],
        "Your card's security code is incorrect.",
    ),
    Decline::new(
        "processing_error",
        &[
            "pm_card_chargeDeclinedProcessingError",
            "pm_card_visa_chargeDeclinedProcessingError",
            "4000000000000119",
        ],
        "An error occurred while processing your card. Try again in a little bit.",
    ),
];

const ROUTES: &[MockRoute] = &[
    MockRoute("POST", "/v1/payment_intents", intents::create),
    MockRoute("GET", "/v1/payment_intents", lists::payments),
    MockRoute("GET", "/v1/payment_intents/{id}", intents::get),
    MockRoute("POST", "/v1/payment_intents/{id}", intents::update),
    MockRoute("POST", "/v1/payment_intents/{id}/confirm", intents::confirm),
    MockRoute("POST", "/v1/payment_intents/{id}/capture", intents::capture),
    MockRoute("POST", "/v1/payment_intents/{id}/cancel", intents::cancel),
    MockRoute("POST", "/v1/setup_intents", setups::create),
    MockRoute("GET", "/v1/setup_intents/{id}", setups::get),
    MockRoute("POST", "/v1/setup_intents/{id}/confirm", setups::confirm),
    MockRoute("POST", "/v1/setup_intents/{id}/cancel", setups::cancel),
    MockRoute("POST", "/v1/payment_methods", cards::create),
    MockRoute("GET", "/v1/payment_methods", lists::methods),
    MockRoute("GET", "/v1/payment_methods/{id}", cards::get),
    MockRoute("POST", "/v1/payment_methods/{id}/attach", cards::attach),
    MockRoute("POST", "/v1/payment_methods/{id}/detach", cards::detach),
    MockRoute("POST", "/v1/customers", customers::create),
    MockRoute("GET", "/v1/customers", lists::customers),
    MockRoute("GET", "/v1/customers/{id}", customers::get),
    MockRoute("POST", "/v1/customers/{id}", customers::update),
    MockRoute("DELETE", "/v1/customers/{id}", customers::delete),
    MockRoute("GET", "/v1/customers/{customer}/payment_methods", lists::methods),
    MockRoute("GET", "/v1/charges", lists::charges),
    MockRoute("GET", "/v1/charges/{id}", charges::get),
    MockRoute("POST", "/v1/refunds", charges::refund),
    MockRoute("GET", "/v1/refunds", lists::refunds),
    MockRoute("GET", "/v1/refunds/{id}", charges::get_refund),
    MockRoute("GET", "/v1/events", lists::events),
    MockRoute("GET", "/v1/events/{id}", registered::get_event),
    MockRoute("GET", "/v1/balance", charges::balance),
    MockRoute("POST", "/v1/checkout/sessions", sessions::create),
    MockRoute("GET", "/v1/checkout/sessions", lists::sessions),
    MockRoute("GET", "/v1/checkout/sessions/{id}", sessions::get),
    MockRoute("POST", "/v1/checkout/sessions/{id}/expire", sessions::expire),
    MockRoute("POST", "/v1/webhook_endpoints", registered::create),
    MockRoute("GET", "/v1/webhook_endpoints", lists::endpoints),
    MockRoute("GET", "/v1/webhook_endpoints/{id}", registered::get),
    MockRoute("POST", "/v1/webhook_endpoints/{id}", registered::update),
    MockRoute("DELETE", "/v1/webhook_endpoints/{id}", registered::delete),
];

const SNIPPETS: &[Snippet] = &[
    Snippet {
        language: "curl",
        purpose: "connect",
        template: "curl {{baseUrl}}/v1/customers -u {{secretKey}}: -d email=ada@example.com\n",
    },
    Snippet {
        language: "python",
        purpose: "connect",
        template: "\
import stripe

base = \"{{baseUrl}}\"
client = stripe.StripeClient(
    \"{{secretKey}}\",
    base_addresses={\"api\": base, \"connect\": base, \"files\": base},
)
client.v1.customers.list()
",
    },
    Snippet {
        language: "python",
        purpose: "webhook",
        template: "\
import stripe

def verify(headers, body, url):
    return stripe.Webhook.construct_event(
        body, headers[\"stripe-signature\"], \"{{webhookSecret}}\"
    )
",
    },
    Snippet {
        language: "node",
        purpose: "connect",
        template: "\
const Stripe = require(\"stripe\");

// It takes a host and no path: the server finds the mock by its key.
const client = new Stripe(\"{{secretKey}}\", {
  protocol: \"{{scheme}}\",
  host: \"{{host}}\",
  port: {{port}},
});
client.customers.list().then((customers) => customers.data);
",
    },
    Snippet {
        language: "node",
        purpose: "webhook",
        template: "\
function verify(headers, body, url) {
  return client.webhooks.constructEvent(
    body, headers[\"stripe-signature\"], \"{{webhookSecret}}\"
  );
}
",
    },
];
