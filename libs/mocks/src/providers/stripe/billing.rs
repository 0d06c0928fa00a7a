//! How an invoice is paid: drafted, made final, charged, and what follows from that.

use serde_json::{Value, json};

use super::{cards, intents, renewals, wire::emit};
use crate::{
    Decline, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// A card whose owner has to confirm the payment, where nobody is there to do it.
static UNCONFIRMED: Decline = Decline::new(
    "authentication_required",
    &[],
    "This payment requires additional user action before it can be completed successfully.",
);

/// What a new invoice is of.
pub(super) struct InvoiceDraft<'a> {
    pub(super) customer: &'a StoredObject,
    pub(super) currency: &'a str,
    pub(super) lines: Vec<Value>,
    pub(super) subscription: Option<&'a StoredObject>,
    /// `manual`, or what of a subscription it is.
    pub(super) reason: &'static str,
    pub(super) is_automatic: bool,
    pub(super) due_date: Option<i64>,
}

/// What became of an attempt to be paid.
pub(super) enum Collected {
    Paid,
    /// The owner of the card has to confirm it.
    Waits,
    Declined(&'static Decline, Value),
}

/// An invoice that can still be changed, of which nobody is told yet.
pub(super) fn drafted(context: &mut CallContext<'_>, draft: &InvoiceDraft<'_>) -> StoredObject {
    let (id, now) = (context.id("invoices"), context.seconds());
    let customer = &draft.customer.object;
    let parent = draft.subscription.map(|subscription| {
        let details = json!({"metadata": subscription.object["metadata"], "subscription": subscription.id});
        json!({"quote_details": null, "subscription_details": details, "type": "subscription_details"})
    });
    let method = if draft.is_automatic { "charge_automatically" } else { "send_invoice" };
    let lines = json!({"object": "list", "data": [], "has_more": false, "url": format!("/v1/invoices/{id}/lines")});
    let object = json!({
        "id": id, "object": "invoice", "account_country": "US", "account_name": "Trapline",
        "amount_due": 0, "amount_overpaid": 0, "amount_paid": 0, "amount_paid_off_stripe": 0,
        "amount_remaining": 0, "amount_shipping": 0, "attempt_count": 0, "attempted": false,
        "auto_advance": draft.subscription.is_some(),
        "automatic_tax": {"disabled_reason": null, "enabled": false, "liability": null, "provider": null, "status": null},
        "billing_reason": draft.reason, "collection_method": method, "confirmation_secret": null,
        "created": now, "currency": draft.currency, "customer": draft.customer.id,
        "customer_email": customer["email"], "customer_name": customer["name"],
        "default_payment_method": null, "default_tax_rates": [], "description": null,
        "discounts": [], "due_date": draft.due_date, "effective_at": null, "status": "draft",
    });
    let invoice = context.create("invoices", &id, object);
    let fields = json!({
        "ending_balance": null, "footer": null, "hosted_invoice_url": null, "invoice_pdf": null,
        "issuer": {"type": "self"}, "lines": lines, "livemode": false, "metadata": {},
        "next_payment_attempt": null, "number": null, "parent": parent,
        "payment_settings": {"default_mandate": null, "payment_method_options": null, "payment_method_types": null},
        "period_end": now, "period_start": now, "post_payment_credit_notes_amount": 0,
        "pre_payment_credit_notes_amount": 0, "receipt_number": null, "starting_balance": 0,
        "status_transitions": {"finalized_at": null, "marked_uncollectible_at": null, "paid_at": null, "voided_at": null},
        "subtotal": 0, "total": 0, "total_taxes": [],
    });
    let invoice = context.change(invoice, fields);
    let lines: Vec<_> = draft.lines.iter().map(|line| of_invoice(line, &id)).collect();
    with_lines(context, invoice, &lines)
}

fn of_invoice(line: &Value, id: &str) -> Value {
    let mut line = line.clone();
    line["invoice"] = json!(id);
    line
}

/// The invoice with these lines, and their sum.
pub(super) fn with_lines(
    context: &mut CallContext<'_>,
    invoice: StoredObject,
    lines: &[Value],
) -> StoredObject {
    let amounts = lines.iter().filter_map(|line| line["amount"].as_i64());
    let total = amounts.fold(0_i64, i64::saturating_add);
    let mut list = invoice.object["lines"].clone();
    list["data"] = json!(lines);
    let due = total.max(0);
    context.change(
        invoice,
        json!({
            "lines": list, "subtotal": total, "total": total, "amount_due": due,
            "amount_remaining": due,
        }),
    )
}

/// Gives a draft its number, and a payment for what is due. It is paid at once where nothing is.
pub(super) fn finalized(
    context: &mut CallContext<'_>,
    invoice: StoredObject,
    customer: StoredObject,
) -> StoredObject {
    let number = customer.object["next_invoice_sequence"].as_i64().unwrap_or(1);
    let prefix = customer.object["invoice_prefix"].as_str().unwrap_or_default().to_owned();
    context.change(customer, json!({"next_invoice_sequence": number.saturating_add(1)}));
    let now = context.seconds();
    let mut moments = invoice.object["status_transitions"].clone();
    moments["finalized_at"] = json!(now);
    let url = context.page_url("invoices", &invoice.id);
    let mut fields = json!({
        "number": format!("{prefix}-{number:04}"), "status": "open", "effective_at": now,
        "hosted_invoice_url": url, "status_transitions": moments,
    });
    let mut invoice = invoice;
    if invoice.object["amount_due"].as_i64().unwrap_or(0) > 0 {
        let intent = intent_of(context, &invoice);
        fields["confirmation_secret"] =
            json!({"client_secret": intent.object["client_secret"], "type": "payment_intent"});
        invoice.hidden["intent"] = json!(intent.id);
    }
    let invoice = context.change(invoice, fields);
    emit(context, "invoice.finalized", &invoice);
    if invoice.object["amount_due"] == 0 { paid(context, invoice) } else { invoice }
}

/// The payment of an invoice.
fn intent_of(context: &mut CallContext<'_>, invoice: &StoredObject) -> StoredObject {
    let amount = invoice.object["amount_due"].as_i64().unwrap_or(0);
    let currency = invoice.object["currency"].as_str().unwrap_or_default().to_owned();
    let customer = invoice.object["customer"].as_str().map(str::to_owned);
    let mut intent = intents::new(context, amount, &currency, customer.as_deref(), None);
    let subscription = subscription_of(invoice);
    intent.hidden = json!({"invoice": invoice.id, "subscription": subscription});
    let is_kept = subscription.is_some();
    // Fields of the same name in the call are the invoice's or the subscription's.
    let fields = json!({
        "capture_method": "automatic", "metadata": {}, "receipt_email": null,
        "description": if is_kept { "Subscription creation" } else { "Payment for Invoice" },
        "setup_future_usage": is_kept.then_some("off_session"),
    });
    let intent = context.change(intent, fields);
    emit(context, "payment_intent.created", &intent);
    intent
}

/// The subscription that an invoice is of.
pub(super) fn subscription_of(invoice: &StoredObject) -> Option<String> {
    let id = invoice.object.pointer("/parent/subscription_details/subscription");
    id.and_then(Value::as_str).map(str::to_owned)
}

/// Asks at once for all that paying an invoice changes.
pub(super) fn need(context: &mut CallContext<'_>, invoice: &StoredObject) -> Result<(), Halt> {
    let row = |found: Option<&str>| found.map(str::to_owned);
    let intent = context.need_rows("payments", row(invoice.hidden["intent"].as_str()));
    let customer = context.need_rows("customers", row(invoice.object["customer"].as_str()));
    context.need_rows("subscriptions", subscription_of(invoice))?;
    intent.and(customer)
}

/// Charges a method for an open invoice.
pub(super) fn collected(
    context: &mut CallContext<'_>,
    invoice: &StoredObject,
    method: &StoredObject,
) -> Result<Collected, Halt> {
    let intent = invoice.hidden["intent"].as_str().unwrap_or_default().to_owned();
    let intent = context.get("payments", &intent, "payment_intent")?;
    if cards::needs_action(method) && context.declined(&[]).is_none() {
        intents::asked(context, intent, method)?;
        let invoice = context.get("invoices", &invoice.id, "invoice")?;
        let invoice = attempted(context, invoice, json!({}));
        emit(context, "invoice.payment_action_required", &invoice);
        return Ok(Collected::Waits);
    }
    match intents::charged(context, intent, method) {
        Ok(_) => Ok(Collected::Paid),
        Err(Halt::Failed(CallFailure::Declined(decline, details))) => {
            Ok(Collected::Declined(decline, details))
        }
        Err(halt) => Err(halt),
    }
}

/// The error of a call that has to be paid at once and is not.
pub(super) fn unpaid(outcome: Collected, code: &str) -> Result<(), Halt> {
    match outcome {
        Collected::Paid => Ok(()),
        Collected::Waits => Err(unconfirmed(code)),
        Collected::Declined(decline, details) => {
            Err(CallFailure::Declined(decline, details).into())
        }
    }
}

/// The error where the owner of the card has to confirm a payment first.
pub(super) fn unconfirmed(code: &str) -> Halt {
    CallFailure::Declined(&UNCONFIRMED, json!({"code": code})).into()
}

fn attempted(
    context: &mut CallContext<'_>,
    invoice: StoredObject,
    mut fields: Value,
) -> StoredObject {
    let count = invoice.object["attempt_count"].as_i64().unwrap_or(0);
    fields["attempt_count"] = json!(count.saturating_add(1));
    fields["attempted"] = json!(true);
    context.change(invoice, fields)
}

/// What follows for the invoice of a payment that went through.
pub(super) fn settled(
    context: &mut CallContext<'_>,
    intent: &StoredObject,
    method: &StoredObject,
) -> Result<(), Halt> {
    let Some(invoice) = invoice_of(context, intent)? else { return Ok(()) };
    let invoice = attempted(context, invoice, json!({}));
    let invoice = paid(context, invoice);
    match subscription_of(&invoice) {
        Some(id) => renewals::after_payment(context, &id, Some(method)),
        None => Ok(()),
    }
}

/// The invoice with nothing left to pay.
pub(super) fn paid(context: &mut CallContext<'_>, invoice: StoredObject) -> StoredObject {
    let mut moments = invoice.object["status_transitions"].clone();
    moments["paid_at"] = json!(context.seconds());
    let fields = json!({
        "status": "paid", "amount_paid": invoice.object["amount_due"], "amount_remaining": 0,
        "attempted": true, "next_payment_attempt": null, "status_transitions": moments,
    });
    let invoice = context.change(invoice, fields);
    emit(context, "invoice.paid", &invoice);
    emit(context, "invoice.payment_succeeded", &invoice);
    invoice
}

/// What follows for the invoice of a payment that was declined.
pub(super) fn failed(context: &mut CallContext<'_>, intent: &StoredObject) -> Result<(), Halt> {
    let Some(invoice) = invoice_of(context, intent)? else { return Ok(()) };
    let invoice = attempted(context, invoice, json!({}));
    emit(context, "invoice.payment_failed", &invoice);
    match subscription_of(&invoice) {
        Some(id) => renewals::after_failure(context, &id),
        None => Ok(()),
    }
}

/// The open invoice that a payment is of, with the subscription's row asked for in the same round.
fn invoice_of(
    context: &mut CallContext<'_>,
    intent: &StoredObject,
) -> Result<Option<StoredObject>, Halt> {
    let Some(id) = intent.hidden["invoice"].as_str() else { return Ok(None) };
    let subscription = intent.hidden["subscription"].as_str().map(str::to_owned);
    let known = context.need_rows("subscriptions", subscription);
    let invoice = context.find("invoices", id)?;
    known?;
    Ok(invoice.filter(|invoice| invoice.state.as_deref() != Some("paid")))
}

/// Somebody pays on the invoice's page, or a test gives it up.
pub(super) fn take(
    context: &mut CallContext<'_>,
    invoice: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    if to != "paid" {
        return closed(context, invoice, to);
    }
    need(context, &invoice)?;
    let method = cards::named(context, super::sessions::CARD)?;
    let outcome = collected(context, &invoice, &method)?;
    unpaid(outcome, "invoice_payment_intent_requires_action")?;
    context.get("invoices", &invoice.id, "invoice")
}

/// An invoice that nobody pays any more: `void` or `uncollectible`.
pub(super) fn closed(
    context: &mut CallContext<'_>,
    invoice: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    need(context, &invoice)?;
    let (moment, event) = match to {
        "void" => ("voided_at", "invoice.voided"),
        _ => ("marked_uncollectible_at", "invoice.marked_uncollectible"),
    };
    let mut moments = invoice.object["status_transitions"].clone();
    moments[moment] = json!(context.seconds());
    if let (true, Some(intent)) = (to == "void", invoice.hidden["intent"].as_str()) {
        let intent = context.get("payments", intent, "payment_intent")?;
        let now = context.seconds();
        let fields = json!({"status": "canceled", "canceled_at": now, "next_action": null,
            "cancellation_reason": "void_invoice"});
        let intent = context.change(intent, fields);
        emit(context, "payment_intent.canceled", &intent);
    }
    let fields = json!({"status": to, "status_transitions": moments, "next_payment_attempt": null});
    let invoice = context.change(invoice, fields);
    emit(context, event, &invoice);
    Ok(invoice)
}
