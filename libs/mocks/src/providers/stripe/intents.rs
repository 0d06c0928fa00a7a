//! Payment intents: from a method to a charge.

use serde_json::{Value, json};

use super::{
    billing, cards,
    charges::{charge, failed_charge},
    wire::{emit, shown},
};
use crate::{
    Decline, MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const CONFIRMABLE: [&str; 3] =
    ["requires_payment_method", "requires_confirmation", "requires_action"];
const CANCELLABLE: [&str; 4] =
    ["requires_payment_method", "requires_confirmation", "requires_action", "requires_capture"];

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let amount = context.int("amount")?.ok_or_else(|| CallFailure::missing("amount"))?;
    if amount < 1 {
        let message = "This value must be greater than or equal to 1.".to_owned();
        let (field, code) = ("amount".to_owned(), "parameter_invalid_integer");
        return Err(CallFailure::Invalid { field, code, message }.into());
    }
    let currency = context.need("currency")?.to_lowercase();
    let customer = context.text("customer");
    if let Some(customer) = &customer {
        context.get("customers", customer, "customer")?;
    }
    let method = cards::of_call(context)?;
    let intent = new(context, amount, &currency, customer.as_deref(), method.as_ref());
    emit(context, "payment_intent.created", &intent);
    if context.flag("confirm") {
        return confirmed(context, intent, method);
    }
    shown(context, intent.object)
}

/// A payment that nobody has confirmed yet.
pub(super) fn new(
    context: &mut CallContext<'_>,
    amount: i64,
    currency: &str,
    customer: Option<&str>,
    method: Option<&StoredObject>,
) -> StoredObject {
    let id = context.id("payments");
    let status = if method.is_some() { "requires_confirmation" } else { "requires_payment_method" };
    let capture = context.text("capture_method").unwrap_or_else(|| "automatic_async".to_owned());
    let automatic = context.flag("automatic_payment_methods.enabled");
    let object = json!({
        "id": id,
        "object": "payment_intent",
        "amount": amount,
        "amount_capturable": 0,
        "amount_details": {"tip": {}},
        "amount_received": 0,
        "application": null,
        "application_fee_amount": null,
        "automatic_payment_methods":
            if automatic { json!({"allow_redirects": "always", "enabled": true}) } else { Value::Null },
        "canceled_at": null,
        "cancellation_reason": null,
        "capture_method": capture,
        "client_secret": format!("{id}_secret_{}", context.chance.base62(25)),
        "confirmation_method": context.text("confirmation_method").unwrap_or_else(|| "automatic".to_owned()),
        "created": context.seconds(),
        "currency": currency,
        "customer": customer,
        "description": context.or_null("description"),
        "last_payment_error": null,
        "latest_charge": null,
        "livemode": false,
        "metadata": context.map("metadata"),
        "next_action": null,
        "on_behalf_of": null,
        "payment_method": method.map(|method| method.id.clone()),
        "payment_method_configuration_details": null,
        "payment_method_options": {},
        "payment_method_types": ["card"],
        "processing": null,
        "receipt_email": context.or_null("receipt_email"),
        "review": null,
        "setup_future_usage": context.or_null("setup_future_usage"),
        "shipping": null,
        "source": null,
        "statement_descriptor": context.or_null("statement_descriptor"),
        "statement_descriptor_suffix": context.or_null("statement_descriptor_suffix"),
        "status": status,
        "transfer_data": null,
        "transfer_group": context.or_null("transfer_group"),
    });
    context.create("payments", &id, object)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let intent = context.of_path("payments")?;
    shown(context, intent.object)
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let intent = context.of_path("payments")?;
    require_state(&intent, &CONFIRMABLE, "update")?;
    let mut fields = context.given(&["description", "receipt_email", "setup_future_usage"]);
    if let Some(amount) = context.int("amount")? {
        fields["amount"] = json!(amount);
    }
    if context.field("metadata").is_some() {
        fields["metadata"] = merged(&intent.object["metadata"], &context.map("metadata"));
    }
    if let Some(method) = cards::of_call(context)? {
        fields["payment_method"] = json!(method.id);
        fields["status"] = json!("requires_confirmation");
    }
    let intent = context.change(intent, fields);
    shown(context, intent.object)
}

pub(super) fn confirm(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let intent = context.of_path("payments")?;
    let method = cards::of_call_or(context, &intent)?;
    confirmed(context, intent, method)
}

fn confirmed(
    context: &mut CallContext<'_>,
    intent: StoredObject,
    method: Option<StoredObject>,
) -> Result<MockReply, Halt> {
    require_state(&intent, &CONFIRMABLE, "confirm")?;
    let Some(method) = method else {
        let message =
            "You cannot confirm this PaymentIntent because it's missing a payment method.";
        let (field, code) = (String::new(), "payment_intent_unexpected_state");
        return Err(CallFailure::Invalid { field, code, message: message.to_owned() }.into());
    };
    if cards::needs_action(&method) && context.declined(&[]).is_none() {
        let intent = asked(context, intent, &method)?;
        return shown(context, intent.object);
    }
    let intent = charged(context, intent, &method)?;
    shown(context, intent.object)
}

/// Waits for the owner of the card, who has a page for it.
pub(super) fn asked(
    context: &mut CallContext<'_>,
    mut intent: StoredObject,
    method: &StoredObject,
) -> Result<StoredObject, Halt> {
    let action = cards::next_action(context, &mut intent)?;
    let fields = json!({
        "status": "requires_action", "next_action": action, "payment_method": method.id,
    });
    let intent = context.change(intent, fields);
    emit(context, "payment_intent.requires_action", &intent);
    Ok(intent)
}

/// The owner of the card did not confirm the payment.
pub(super) fn unauthenticated(context: &mut CallContext<'_>, intent: StoredObject) -> StoredObject {
    let fields = json!({
        "status": "requires_payment_method",
        "payment_method": null,
        "next_action": null,
        "last_payment_error": cards::not_authenticated("payment_intent_authentication_failure"),
    });
    let intent = context.change(intent, fields);
    emit(context, "payment_intent.payment_failed", &intent);
    intent
}

/// Takes the money, or holds it; or the payment is declined.
pub(super) fn charged(
    context: &mut CallContext<'_>,
    intent: StoredObject,
    method: &StoredObject,
) -> Result<StoredObject, Halt> {
    if let Some(decline) = context.declined(&[&cards::trigger(method)]) {
        return declined(context, intent, method, decline).and_then(Err);
    }
    let fields = json!({"payment_method": method.id, "next_action": null});
    let intent = context.change(intent, fields);
    let is_manual = intent.object["capture_method"] == "manual";
    let charge = charge(context, &intent, method, !is_manual);
    let amount = &intent.object["amount"];
    let fields = if is_manual {
        json!({"status": "requires_capture", "amount_capturable": amount, "latest_charge": charge.id})
    } else {
        json!({"status": "succeeded", "amount_received": amount, "latest_charge": charge.id})
    };
    let intent = context.change(intent, fields);
    emit(context, "charge.succeeded", &charge);
    let event = if is_manual {
        "payment_intent.amount_capturable_updated"
    } else {
        "payment_intent.succeeded"
    };
    emit(context, event, &intent);
    billing::settled(context, &intent, method)?;
    Ok(intent)
}

/// Keeps the failed charge, and gives the error that tells of it.
fn declined(
    context: &mut CallContext<'_>,
    intent: StoredObject,
    method: &StoredObject,
    decline: &'static Decline,
) -> Result<Halt, Halt> {
    let charge = failed_charge(context, &intent, method, decline);
    let error = json!({
        "type": "card_error",
        "code": super::wire::code_of(decline),
        "decline_code": decline.code,
        "message": decline.message,
        "charge": charge.id,
        "payment_method": method.object,
    });
    let intent = context.change(
        intent,
        json!({
            "status": "requires_payment_method",
            "payment_method": null,
            "next_action": null,
            "latest_charge": charge.id,
            "last_payment_error": error,
        }),
    );
    emit(context, "charge.failed", &charge);
    emit(context, "payment_intent.payment_failed", &intent);
    billing::failed(context, &intent)?;
    let details = json!({
        "charge": charge.id, "payment_intent": intent.object, "payment_method": method.object,
    });
    Ok(CallFailure::Declined(decline, details).into())
}

pub(super) fn capture(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let intent = context.of_path("payments")?;
    require_state(&intent, &["requires_capture"], "capture")?;
    let capturable = intent.object["amount_capturable"].as_i64().unwrap_or(0);
    let amount = context.int("amount_to_capture")?.unwrap_or(capturable);
    if !(1..=capturable).contains(&amount) {
        let message = "The amount to capture is greater than the amount that can be captured.";
        return Err(CallFailure::invalid("amount_to_capture", message).into());
    }
    let charge = intent.object["latest_charge"].as_str().unwrap_or_default().to_owned();
    let charge = context.get("charges", &charge, "latest_charge")?;
    let charge = context.change(charge, json!({"captured": true, "amount_captured": amount}));
    let fields = json!({"status": "succeeded", "amount_capturable": 0, "amount_received": amount});
    let intent = context.change(intent, fields);
    emit(context, "charge.captured", &charge);
    emit(context, "payment_intent.succeeded", &intent);
    shown(context, intent.object)
}

pub(super) fn cancel(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let intent = context.of_path("payments")?;
    require_state(&intent, &CANCELLABLE, "cancel")?;
    if intent.hidden["invoice"].is_string() {
        let message = "This PaymentIntent is of an invoice: void the invoice instead.";
        let (field, code) = (String::new(), "payment_intent_unexpected_state");
        return Err(CallFailure::Invalid { field, code, message: message.to_owned() }.into());
    }
    let fields = json!({
        "status": "canceled",
        "amount_capturable": 0,
        "canceled_at": context.seconds(),
        "cancellation_reason": context.or_null("cancellation_reason"),
        "next_action": null,
    });
    let intent = context.change(intent, fields);
    emit(context, "payment_intent.canceled", &intent);
    shown(context, intent.object)
}

fn require_state(intent: &StoredObject, states: &[&str], verb: &str) -> Result<(), Halt> {
    let state = intent.state.as_deref().unwrap_or_default();
    if states.contains(&state) {
        return Ok(());
    }
    let message = format!(
        "You cannot {verb} this PaymentIntent because it has a status of {state}. \
         Only a PaymentIntent with one of the following statuses may be used: {}.",
        states.join(", ")
    );
    let code = "payment_intent_unexpected_state";
    Err(CallFailure::Invalid { field: String::new(), code, message }.into())
}

/// Metadata with that of a call: keys with an empty text go.
pub(super) fn merged(before: &Value, given: &Value) -> Value {
    let mut merged = before.as_object().cloned().unwrap_or_default();
    merged.extend(given.as_object().cloned().unwrap_or_default());
    merged.retain(|_, value| *value != json!(""));
    Value::Object(merged)
}
