//! Charges and refunds.

use serde_json::{Value, json};

use super::wire::{code_of, emit, shown};
use crate::{
    Decline, MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// A charge that went through.
pub(super) fn charge(
    context: &mut CallContext<'_>,
    intent: &StoredObject,
    method: &StoredObject,
    is_captured: bool,
) -> StoredObject {
    let outcome = json!({
        "network_status": "approved_by_network", "reason": null, "risk_level": "normal",
        "risk_score": 20, "seller_message": "Payment complete.", "type": "authorized",
    });
    let captured = if is_captured { intent.object["amount"].clone() } else { json!(0) };
    let fields = json!({
        "amount_captured": captured, "captured": is_captured, "outcome": outcome, "paid": true,
        "status": "succeeded",
    });
    made(context, intent, method, fields)
}

/// A charge that was declined.
pub(super) fn failed_charge(
    context: &mut CallContext<'_>,
    intent: &StoredObject,
    method: &StoredObject,
    decline: &Decline,
) -> StoredObject {
    let outcome = json!({
        "network_status": "declined_by_network", "reason": decline.code, "risk_level": "normal",
        "risk_score": 20, "seller_message": "The bank did not return any further details with this decline.",
        "type": "issuer_declined",
    });
    let fields = json!({
        "amount_captured": 0, "captured": false, "failure_code": code_of(decline),
        "failure_message": decline.message, "outcome": outcome, "paid": false, "status": "failed",
    });
    made(context, intent, method, fields)
}

fn made(
    context: &mut CallContext<'_>,
    intent: &StoredObject,
    method: &StoredObject,
    fields: Value,
) -> StoredObject {
    let id = context.id("charges");
    let object = json!({
        "id": id,
        "object": "charge",
        "amount": intent.object["amount"],
        "amount_refunded": 0,
        "application": null,
        "application_fee": null,
        "application_fee_amount": null,
        "balance_transaction": null,
        "billing_details": method.object["billing_details"],
        "calculated_statement_descriptor": "TRAPLINE",
        "created": context.seconds(),
        "currency": intent.object["currency"],
        "customer": intent.object["customer"],
        "description": intent.object["description"],
        "disputed": false,
        "failure_balance_transaction": null,
        "failure_code": null,
        "failure_message": null,
        "fraud_details": {},
        "livemode": false,
        "metadata": intent.object["metadata"],
        "on_behalf_of": null,
        "payment_intent": intent.id,
        "payment_method": method.id,
        "payment_method_details": {"card": method.object["card"], "type": "card"},
        "receipt_email": intent.object["receipt_email"],
        "receipt_number": null,
        "receipt_url": null,
        "refunded": false,
        "review": null,
        "shipping": null,
        "source": null,
        "source_transfer": null,
        "statement_descriptor": null,
        "statement_descriptor_suffix": null,
        "status": "pending",
        "transfer_data": null,
        "transfer_group": null,
    });
    let charge = context.create("charges", &id, object);
    context.change(charge, fields)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let charge = context.of_path("charges")?;
    shown(context, charge.object)
}

pub(super) fn get_refund(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let refund = context.of_path("refunds")?;
    shown(context, refund.object)
}

pub(super) fn refund(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let charge = charge_of_call(context)?;
    let number = |name: &str| charge.object[name].as_i64().unwrap_or(0);
    let refunded = number("amount_refunded");
    let left = number("amount_captured") - refunded;
    let amount = context.int("amount")?.unwrap_or(left);
    if left <= 0 {
        let message = format!("Charge {} has already been refunded.", charge.id);
        let (field, code) = (String::new(), "charge_already_refunded");
        return Err(CallFailure::Invalid { field, code, message }.into());
    }
    if !(1..=left).contains(&amount) {
        let message = format!(
            "Refund amount ({amount}) is greater than unrefunded amount on charge ({left})."
        );
        return Err(CallFailure::invalid("amount", message).into());
    }
    let id = context.id("refunds");
    let object = json!({
        "id": id,
        "object": "refund",
        "amount": amount,
        "balance_transaction": null,
        "charge": charge.id,
        "created": context.seconds(),
        "currency": charge.object["currency"],
        "destination_details": {"card": {"type": "refund"}, "type": "card"},
        "metadata": context.map("metadata"),
        "payment_intent": charge.object["payment_intent"],
        "reason": context.or_null("reason"),
        "receipt_number": null,
        "source_transfer_reversal": null,
        "status": "succeeded",
        "transfer_reversal": null,
    });
    let refund = context.create("refunds", &id, object);
    let total = refunded + amount;
    let fields = json!({"amount_refunded": total, "refunded": amount == left});
    let charge = context.change(charge, fields);
    emit(context, "refund.created", &refund);
    emit(context, "charge.refunded", &charge);
    shown(context, refund.object)
}

fn charge_of_call(context: &mut CallContext<'_>) -> Result<StoredObject, Halt> {
    if let Some(id) = context.text("charge") {
        return context.get("charges", &id, "charge");
    }
    let intent = context.need("payment_intent")?;
    let intent = context.get("payments", &intent, "payment_intent")?;
    if let Some(id) = intent.object["latest_charge"].as_str() {
        return context.get("charges", id, "charge");
    }
    let message = "This PaymentIntent does not have a successful charge to refund.";
    Err(CallFailure::invalid("payment_intent", message).into())
}

#[expect(clippy::unnecessary_wraps, reason = "what a route takes")]
pub(super) fn balance(_: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let amount = json!([{"amount": 0, "currency": "usd", "source_types": {"card": 0}}]);
    let balance =
        json!({"object": "balance", "available": amount, "livemode": false, "pending": amount});
    Ok(MockReply::ok(&balance))
}
