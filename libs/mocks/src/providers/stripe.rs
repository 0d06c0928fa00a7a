//! Stripe: payments. API of 2026-08-26, as stripe-python 16 and stripe-node 23 use it.

mod billing;
mod cards;
mod charges;
mod customers;
mod expand;
mod intents;
mod invoice_items;
mod invoices;
mod lists;
mod portal;
mod prices;
mod products;
mod registered;
mod renewals;
mod routes;
mod sessions;
mod setups;
mod simulated;
mod subscription_items;
mod subscriptions;
mod wire;

use trapline_model::MockCategory;

use crate::{
    Credential, Decline, Make, ObjectKind, Provider, Sign, SigningScheme, Snippet,
    auth::{Check, CredentialPlace},
    provider::{Hooks, Idempotency, OwnSetting, Sdk},
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
        kind("products", "prod_", 24),
        kind("prices", "price_", 24),
        kind("subscriptions", "sub_", 24),
        kind("invoices", "in_", 24),
        kind("items", "ii_", 24),
        kind("portals", "bps_", 24),
    ],
    logs: &[],
    idempotency: Idempotency::Replay { header: "idempotency-key", mark: "idempotent-replayed" },
    max_body: 1 << 20,
    routes: routes::ROUTES,
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
            "product.created",
            "product.updated",
            "product.deleted",
            "price.created",
            "price.updated",
            "customer.subscription.created",
            "customer.subscription.updated",
            "customer.subscription.deleted",
            "invoice.created",
            "invoice.updated",
            "invoice.deleted",
            "invoice.finalized",
            "invoice.sent",
            "invoice.paid",
            "invoice.payment_succeeded",
            "invoice.payment_failed",
            "invoice.payment_action_required",
            "invoice.voided",
            "invoice.marked_uncollectible",
            "invoiceitem.created",
            "invoiceitem.deleted",
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
        expects: None,
        handshake: None,
    },
    snippets: SNIPPETS,
    sdks: &[
        Sdk { language: "python", package: "stripe", version: "16.1.0" },
        Sdk { language: "node", package: "stripe", version: "23.1.0" },
    ],
    divergences: &[
        "Prices have one amount for each unit, in whole cents: tiers, metered usage, coupons, discounts, taxes, prorations, schedules and test clocks are not there. A changed item of a subscription counts from its next invoice on.",
        "A period of a subscription ends when a test triggers `invoice.created` with the subscription's id, or moves it: `past_due` is a period whose invoice is declined, and `active` ends a trial. Nothing is charged by the clock, and a declined invoice is not charged again by itself.",
        "Invoices of subscriptions are final at once. A price that Checkout was given as price_data in mode payment is not kept as an object.",
        "Checkout, invoices, the customer portal and 3-D Secure are one plain page each, with a button for each outcome. Checkout and invoices are paid with the card pm_card_visa, and the portal ends all plans of its customer.",
        "Disputes come by a trigger only, and stay as they are.",
        "What one call writes has at most 40 KiB, compressed: about five items of a subscription.",
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
