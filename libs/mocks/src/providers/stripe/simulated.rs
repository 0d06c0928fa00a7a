//! What happens without a call: Checkout, 3-D Secure, disputes, refunds that fail.

use serde_json::{Value, json};

use super::{billing, cards, intents, portal, renewals, sessions, setups, wire::emit};
use crate::{
    StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
    flow::{Flow, FlowPage, FlowStep, PageText, Simulation, StepActor, Trigger},
};

/// Currencies without a smaller unit.
const WHOLE: [&str; 5] = ["jpy", "krw", "clp", "vnd", "xaf"];

pub(in crate::providers) static SIMULATION: Simulation = Simulation {
    provider: "stripe",
    flows: &[
        Flow {
            kind: "sessions",
            steps: &[
                FlowStep { from: "open", to: "complete", by: StepActor::Person("Pay") },
                FlowStep { from: "open", to: "expired", by: StepActor::Test },
            ],
            take: sessions::take,
            page: Some(&FlowPage { show: checkout, back: sessions::back }),
        },
        Flow {
            kind: "payments",
            steps: AUTHENTICATION,
            take: payment,
            page: Some(&FlowPage { show: authentication, back: authenticated }),
        },
        Flow {
            kind: "setups",
            steps: AUTHENTICATION,
            take: setup,
            page: Some(&FlowPage { show: authentication, back: authenticated }),
        },
        Flow {
            kind: "invoices",
            steps: &[
                // A pace that takes persons' steps must not charge what was declined again and again.
                FlowStep { from: "open", to: "paid", by: StepActor::Test },
                FlowStep { from: "open", to: "paid", by: StepActor::Person("Pay") },
                FlowStep { from: "open", to: "uncollectible", by: StepActor::Test },
                FlowStep { from: "open", to: "void", by: StepActor::Test },
            ],
            take: billing::take,
            page: Some(&FlowPage { show: invoice, back: |_, _| None }),
        },
        Flow {
            kind: "subscriptions",
            steps: &[
                FlowStep { from: "trialing", to: "active", by: StepActor::Test },
                FlowStep { from: "trialing", to: "canceled", by: StepActor::Test },
                FlowStep { from: "active", to: "past_due", by: StepActor::Test },
                FlowStep { from: "active", to: "canceled", by: StepActor::Test },
                FlowStep { from: "past_due", to: "unpaid", by: StepActor::Test },
                FlowStep { from: "past_due", to: "canceled", by: StepActor::Test },
                FlowStep { from: "incomplete", to: "incomplete_expired", by: StepActor::Test },
            ],
            take: renewals::take,
            page: None,
        },
        Flow {
            kind: "portals",
            steps: &[FlowStep {
                from: "open",
                to: "cancelled",
                by: StepActor::Person("Cancel the plan"),
            }],
            take: portal::take,
            page: Some(&FlowPage { show: portal::show, back: portal::back }),
        },
        Flow {
            kind: "refunds",
            steps: &[FlowStep { from: "succeeded", to: "failed", by: StepActor::Test }],
            take: refund,
            page: None,
        },
    ],
    triggers: &[
        Trigger { event: "charge.dispute.created", run: dispute },
        // The next period of a subscription begins.
        Trigger { event: "invoice.created", run: renewals::next_period },
    ],
};

const AUTHENTICATION: &[FlowStep] = &[
    FlowStep { from: "requires_action", to: "succeeded", by: StepActor::Person("Complete") },
    FlowStep {
        from: "requires_action",
        to: "requires_payment_method",
        by: StepActor::Person("Fail"),
    },
];

fn payment(
    context: &mut CallContext<'_>,
    intent: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    if to != "succeeded" {
        return Ok(intents::unauthenticated(context, intent));
    }
    let id = intent.object["payment_method"].as_str().unwrap_or_default().to_owned();
    let method = cards::named(context, &id)?;
    intents::charged(context, intent, &method)
}

fn setup(
    context: &mut CallContext<'_>,
    setup: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    if to != "succeeded" {
        return Ok(setups::unauthenticated(context, setup));
    }
    let id = setup.object["payment_method"].as_str().unwrap_or_default().to_owned();
    let method = cards::named(context, &id)?;
    Ok(setups::kept(context, setup, method))
}

/// The money stays where it was.
fn refund(
    context: &mut CallContext<'_>,
    refund: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    let id = refund.object["charge"].as_str().unwrap_or_default().to_owned();
    let charge = context.get("charges", &id, "charge")?;
    let of = |object: &StoredObject, field: &str| object.object[field].as_i64().unwrap_or(0);
    let left = of(&charge, "amount_refunded") - of(&refund, "amount");
    context.change(charge, json!({"amount_refunded": left, "refunded": false}));
    let fields = json!({"status": to, "failure_reason": "unknown"});
    let refund = context.change(refund, fields);
    emit(context, "refund.failed", &refund);
    Ok(refund)
}

/// The owner of a card disputes a charge; `reason` may be in the data.
fn dispute(
    context: &mut CallContext<'_>,
    charge: Option<StoredObject>,
) -> Result<StoredObject, Halt> {
    let is_paid = |charge: &StoredObject| charge.kind == "charges" && charge.object["paid"] == true;
    let wrong = || CallFailure::invalid("objectId", "must be the id of a charge that was paid");
    let charge = charge.filter(is_paid).ok_or_else(wrong)?;
    let id = context.id("disputes");
    let object = json!({
        "id": id, "object": "dispute", "amount": charge.object["amount"],
        "balance_transactions": [], "charge": charge.id, "created": context.seconds(),
        "currency": charge.object["currency"], "evidence": {}, "evidence_details": {
            "due_by": context.seconds() + 7 * 86_400, "has_evidence": false, "past_due": false,
            "submission_count": 0,
        },
        "is_charge_refundable": true, "livemode": false, "metadata": {},
        "payment_intent": charge.object["payment_intent"],
        "reason": context.text("reason").unwrap_or_else(|| "fraudulent".to_owned()),
        "status": "needs_response",
    });
    let dispute = context.create("disputes", &id, object);
    context.change(charge, json!({"disputed": true}));
    emit(context, "charge.dispute.created", &dispute);
    Ok(dispute)
}

fn checkout(session: &StoredObject) -> PageText {
    let object = &session.object;
    let due = money(&object["amount_total"], &object["currency"]);
    let title = match object["mode"].as_str() {
        Some("setup") => "Save a card".to_owned(),
        Some("subscription") => format!("Subscribe, and pay {due} now"),
        _ => format!("Pay {due}"),
    };
    let items = session.hidden["items"].as_array().into_iter().flatten();
    let names: Vec<_> = items.filter_map(|item| item["description"].as_str()).collect();
    let mut lines = vec![("What", names.join(", ")), ("Card", "4242 4242 4242 4242".to_owned())];
    lines.extend(object["customer_email"].as_str().map(|email| ("For", email.to_owned())));
    lines.retain(|(_, text)| !text.is_empty());
    lines.push(("Status", session.state.clone().unwrap_or_default()));
    PageText { title, lines }
}

fn invoice(invoice: &StoredObject) -> PageText {
    let object = &invoice.object;
    let title = format!("Pay {}", money(&object["amount_due"], &object["currency"]));
    let mut lines = vec![("Card", "4242 4242 4242 4242".to_owned())];
    lines.extend(object["number"].as_str().map(|number| ("Invoice", number.to_owned())));
    lines.extend(object["customer_email"].as_str().map(|email| ("For", email.to_owned())));
    lines.push(("Status", invoice.state.clone().unwrap_or_default()));
    PageText { title, lines }
}

fn authentication(object: &StoredObject) -> PageText {
    let mut lines = Vec::new();
    if object.kind == "payments" {
        let amount = money(&object.object["amount"], &object.object["currency"]);
        lines.push(("Amount", amount));
    }
    lines.extend(object.object["description"].as_str().map(|text| ("What", text.to_owned())));
    lines.push(("Status", object.state.clone().unwrap_or_default()));
    PageText { title: "3-D Secure".to_owned(), lines }
}

/// The app's address, with what the provider adds to it.
fn authenticated(object: &StoredObject, has_decided: bool) -> Option<String> {
    let url = object.hidden["return_url"].as_str().filter(|_| has_decided)?;
    let is_failed = object.state.as_deref() == Some("requires_payment_method");
    let status = if is_failed { "failed" } else { "succeeded" };
    let name = if object.kind == "payments" { "payment_intent" } else { "setup_intent" };
    let secret = object.object["client_secret"].as_str().unwrap_or_default();
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair(name, &object.id);
    query.append_pair(&format!("{name}_client_secret"), secret);
    query.append_pair("redirect_status", status);
    let (address, fragment) = url.split_once('#').map_or((url, None), |(a, b)| (a, Some(b)));
    let joint = if address.contains('?') { '&' } else { '?' };
    let fragment = fragment.map_or_else(String::new, |fragment| format!("#{fragment}"));
    Some(format!("{address}{joint}{}{fragment}", query.finish()))
}

fn money(amount: &Value, currency: &Value) -> String {
    let amount = amount.as_i64().unwrap_or(0);
    let currency = currency.as_str().unwrap_or_default();
    let name = currency.to_uppercase();
    if WHOLE.contains(&currency) {
        return format!("{amount} {name}");
    }
    format!("{}.{:02} {name}", amount / 100, amount % 100)
}
