//! Transfers: decided on, made, and moved along by the sandbox.

use serde_json::{Value, json};

use super::{accounts, items, wire};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
    flow::{Flow, FlowStep, StepActor},
};

/// The code of a transfer for which there is not enough money.
pub(super) const NSF: &str = "NSF";
const NETWORKS: [&str; 4] = ["ach", "same-day-ach", "rtp", "wire"];
/// States that the sandbox takes a transfer to.
const SIMULATED: [&str; 5] = ["posted", "settled", "funds_available", "failed", "returned"];
/// Nothing moves by itself, unless the pace says so.
const USUAL: StepActor = StepActor::Person("Go on");
pub(super) const FLOW: Flow = Flow {
    kind: "transfers",
    steps: &[
        FlowStep { from: "pending", to: "posted", by: USUAL },
        FlowStep { from: "pending", to: "failed", by: StepActor::Test },
        FlowStep { from: "pending", to: "cancelled", by: StepActor::Test },
        FlowStep { from: "posted", to: "settled", by: USUAL },
        FlowStep { from: "posted", to: "returned", by: StepActor::Test },
        FlowStep { from: "settled", to: "funds_available", by: USUAL },
        FlowStep { from: "settled", to: "returned", by: StepActor::Test },
        FlowStep { from: "funds_available", to: "returned", by: StepActor::Test },
    ],
    take: |context, transfer, to| moved(context, transfer, to),
    page: None,
};
/// The kind of rows that say which authorization a key made.
const KEYS: &str = "~authorization";
const MAX_KEY: usize = 50;
const MAX_DESCRIPTION: usize = 15;
const MAX_EVENTS: i64 = 25;

fn one_of(context: &CallContext<'_>, field: &str, known: &[&str]) -> Result<String, Halt> {
    let given = context.need(field)?;
    if known.contains(&given.as_str()) {
        return Ok(given);
    }
    Err(CallFailure::invalid(field, format!("must be one of {}", known.join(", "))).into())
}

/// An amount in cents, written as `12.34`.
fn cents(context: &CallContext<'_>) -> Result<u64, Halt> {
    let text = context.need("amount")?;
    let read = || {
        let (whole, part) = text.split_once('.')?;
        let is_digits = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
        (part.len() == 2 && !whole.is_empty() && is_digits(whole) && is_digits(part))
            .then_some(())?;
        whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(part.parse().ok()?)
    };
    let wrong =
        || CallFailure::invalid("amount", "must be a decimal with two digits behind the point");
    read().filter(|cents| *cents > 0).ok_or_else(|| wrong().into())
}

fn user(context: &CallContext<'_>) -> Result<Value, Halt> {
    let name = context.need("user.legal_name")?;
    let part = |name: &str| context.or_null(&format!("user.address.{name}"));
    let address = json!({
        "street": part("street"), "city": part("city"), "region": part("region"),
        "postal_code": part("postal_code"), "country": part("country"),
    });
    Ok(json!({
        "legal_name": name, "phone_number": context.or_null("user.phone_number"),
        "email_address": context.or_null("user.email_address"), "address": address,
    }))
}

/// Why a transfer is refused, if it is.
fn refused(
    context: &CallContext<'_>,
    item: &StoredObject,
    account: &StoredObject,
    debit: Option<u64>,
) -> Option<&'static crate::Decline> {
    let password = item.hidden["password"].as_str().unwrap_or_default();
    let declined = context.declined(&[password]).filter(|decline| decline.code == NSF);
    // Balances are whole cents well below 2^53.
    #[expect(clippy::cast_precision_loss, reason = "an amount beyond that is above any balance")]
    let is_above = debit.is_some_and(|cents| {
        let available = account.object["balances"]["available"].as_f64();
        available.is_some_and(|available| cents as f64 > available * 100.0)
    });
    declined.or_else(|| context.provider.decline(NSF).filter(|_| is_above))
}

pub(super) fn authorize(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = items::working(context)?;
    let key = context.text("idempotency_key");
    if key.as_ref().is_some_and(|key| key.len() > MAX_KEY) {
        let message = format!("must have at most {MAX_KEY} characters");
        return Err(CallFailure::invalid("idempotency_key", message).into());
    }
    if let Some(key) = &key
        && let Some(id) = context.row(KEYS, key)?
    {
        let made = context.get("authorizations", &id, "authorization_id")?;
        return wire::ok(context, json!({"authorization": made.object}));
    }
    let id = context.need("account_id")?;
    let account = accounts::one(context, &item, &id)?;
    let kind = one_of(context, "type", &["debit", "credit"])?;
    let network = one_of(context, "network", &NETWORKS)?;
    let (cents, user) = (cents(context)?, user(context)?);
    let debit = (kind == "debit").then_some(cents);
    let refused = refused(context, &item, &account, debit);
    let reason = refused.map(|it| json!({"code": it.code, "description": it.message}));
    let (id, amount) = (context.uuid(), context.need("amount")?);
    let proposed = json!({
        "account_id": account.id, "funding_account_id": null, "type": kind, "user": user,
        "amount": amount, "requested_amount": amount, "network": network,
        "ach_class": context.or_null("ach_class"), "origination_account_id": "",
        "iso_currency_code": "USD", "originator_client_id": null, "credit_funds_source": null,
    });
    let object = json!({
        "id": id, "created": context.now.to_string(),
        "decision": if refused.is_some() { "declined" } else { "approved" },
        "decision_rationale": reason, "guarantee_decision": null,
        "guarantee_decision_rationale": null, "payment_risk": null, "proposed_transfer": proposed,
    });
    let made = context.create("authorizations", &id, object);
    if let Some(key) = key {
        context.write_row(KEYS, &key, Some(id));
    }
    wire::ok(context, json!({"authorization": made.object}))
}

/// Makes the transfer of an authorization; another call for the same one answers with the same transfer.
pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    items::working(context)?;
    let (id, description) = (context.need("authorization_id")?, context.need("description")?);
    if description.chars().count() > MAX_DESCRIPTION {
        let message = format!("must have at most {MAX_DESCRIPTION} characters");
        return Err(CallFailure::invalid("description", message).into());
    }
    let mut authorized = context.get("authorizations", &id, "authorization_id")?;
    if let Some(id) = authorized.hidden["transfer"].as_str().map(str::to_owned) {
        let made = context.get("transfers", &id, "transfer_id")?;
        return wire::ok(context, json!({"transfer": made.object}));
    }
    if authorized.object["decision"] != "approved" {
        let message = "the authorization was not approved";
        return Err(CallFailure::invalid("authorization_id", message).into());
    }
    let transfer = made(context, &authorized, &description);
    authorized.hidden = json!({"transfer": transfer.id});
    context.put(authorized);
    record(context, &transfer, &Value::Null)?;
    wire::ok(context, json!({"transfer": transfer.object}))
}

fn made(
    context: &mut CallContext<'_>,
    authorized: &StoredObject,
    description: &str,
) -> StoredObject {
    let (id, now) = (context.uuid(), context.now.to_string());
    let proposed = &authorized.object["proposed_transfer"];
    let object = json!({
        "id": id, "authorization_id": authorized.id, "account_id": proposed["account_id"],
        "funding_account_id": null, "type": proposed["type"], "user": proposed["user"],
        "amount": proposed["amount"], "description": description, "created": now,
        "status": "pending", "network": proposed["network"], "cancellable": true,
        "failure_reason": null, "metadata": context.map("metadata"), "origination_account_id": "",
        "guarantee_decision": null, "guarantee_decision_rationale": null,
        "iso_currency_code": "USD", "standard_return_window": null,
        "unauthorized_return_window": null, "expected_settlement_date": null,
        "originator_client_id": null, "refunds": [], "recurring_transfer_id": null,
        "credit_funds_source": null, "ach_class": proposed["ach_class"],
    });
    context.create("transfers", &id, object)
}

/// Keeps an event of a transfer, and tells that there is one.
fn record(
    context: &mut CallContext<'_>,
    transfer: &StoredObject,
    failure: &Value,
) -> Result<(), Halt> {
    let number = context.number("transfer_events")?;
    let object = &transfer.object;
    let event = json!({
        "event_id": number, "timestamp": context.now.to_string(), "event_type": object["status"],
        "account_id": object["account_id"], "funding_account_id": null,
        "transfer_id": transfer.id, "origination_account_id": "", "transfer_type": object["type"],
        "transfer_amount": object["amount"], "failure_reason": failure, "sweep_id": null,
        "sweep_amount": null, "refund_id": null, "originator_client_id": null,
    });
    // In the order of their numbers.
    context.create("events", &format!("{number:012}"), event);
    wire::send(context, "TRANSFER.TRANSFER_EVENTS_UPDATE", &transfer.id, None, json!({}));
    Ok(())
}

fn of_call(context: &mut CallContext<'_>) -> Result<StoredObject, Halt> {
    let id = context.need("transfer_id")?;
    context.get("transfers", &id, "transfer_id")
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let transfer = of_call(context)?;
    wire::ok(context, json!({"transfer": transfer.object}))
}

/// A transfer in another state, which is an event of it.
fn moved(
    context: &mut CallContext<'_>,
    transfer: StoredObject,
    to: &str,
) -> Result<StoredObject, Halt> {
    let failure = match to {
        "failed" | "returned" => json!({
            "failure_code": context.text("failure_reason.failure_code").unwrap_or_else(|| "R01".to_owned()),
            "description": context.text("failure_reason.description")
                .unwrap_or_else(|| "Insufficient funds".to_owned()),
        }),
        _ => Value::Null,
    };
    let fields = json!({"status": to, "cancellable": false, "failure_reason": &failure});
    let transfer = context.change(transfer, fields);
    record(context, &transfer, &failure)?;
    Ok(transfer)
}

/// The same, where the flow goes there.
fn moved_by_call(
    context: &mut CallContext<'_>,
    transfer: StoredObject,
    to: &str,
) -> Result<MockReply, Halt> {
    let state = transfer.state.clone().unwrap_or_default();
    if !FLOW.steps_from(&state).any(|step| step.to == to) {
        let message = format!("a transfer that is {state} cannot be {to}");
        return Err(CallFailure::invalid("transfer_id", message).into());
    }
    moved(context, transfer, to)?;
    wire::ok(context, json!({}))
}

pub(super) fn cancel(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let transfer = of_call(context)?;
    moved_by_call(context, transfer, "cancelled")
}

pub(super) fn simulate(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let transfer = of_call(context)?;
    let to = one_of(context, "event_type", &SIMULATED)?;
    moved_by_call(context, transfer, &to)
}

/// Events behind a number, in their order.
pub(super) fn events(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let after = context.int("after_id")?.ok_or_else(|| CallFailure::missing("after_id"))?;
    let count = context.int("count")?.unwrap_or(MAX_EVENTS).clamp(1, MAX_EVENTS);
    let mut events: Vec<_> = context.list("events")?.into_iter().map(|it| it.object).collect();
    events.reverse();
    events.retain(|event| event["event_id"].as_i64().is_some_and(|id| id > after));
    let count = usize::try_from(count).unwrap_or(0);
    let has_more = events.len() > count;
    events.truncate(count);
    wire::ok(context, json!({"transfer_events": events, "has_more": has_more}))
}
