//! Invoices, as an app makes, changes and pays them.

use serde_json::{Value, json};

use super::{
    billing::{self, InvoiceDraft},
    cards, invoice_items, lists, renewals,
    wire::{emit, emit_change, new_metadata, refused, shown},
};
use crate::{MockReply, StoredObject, context::CallContext, failure::Halt};

/// Days until an invoice that is sent is due, at most.
const MAX_DAYS: i64 = 10_000;
const DAY: i64 = 86_400;

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let customer = context.need("customer")?;
    let customer = context.get("customers", &customer, "customer")?;
    let (is_automatic, due_date) = (is_automatic(context)?, due_date(context)?);
    let pending = pending(context, &customer.id)?;
    let of_items = pending.first().and_then(|item| item.object["currency"].as_str());
    let of_customer = customer.object["currency"].as_str();
    let given = context.text("currency").map(|text| text.to_lowercase());
    let currency = given.as_deref().or(of_items).or(of_customer).unwrap_or("usd").to_owned();
    let draft = InvoiceDraft {
        customer: &customer,
        currency: &currency,
        lines: Vec::new(),
        subscription: None,
        reason: "manual",
        is_automatic,
        due_date,
    };
    let mut invoice = billing::drafted(context, &draft);
    for item in pending {
        invoice = invoice_items::added(context, invoice, item).0;
    }
    let fields = given_fields(context, &invoice)?;
    let invoice = context.change(invoice, fields);
    emit(context, "invoice.created", &invoice);
    shown(context, invoice.object)
}

/// Items of a customer that are on no invoice yet, the oldest first, where the call wants them.
fn pending(context: &mut CallContext<'_>, customer: &str) -> Result<Vec<StoredObject>, Halt> {
    if context.text("pending_invoice_items_behavior").as_deref() != Some("include") {
        return Ok(Vec::new());
    }
    let mut items = context.list("items")?;
    items.retain(|it| it.object["customer"] == customer && it.object["invoice"].is_null());
    items.reverse();
    // Together, so that all of them can be changed.
    context.need_rows("items", items.iter().map(|it| it.id.clone()))?;
    Ok(items)
}

/// Whether what is due is charged, and not asked for by mail.
pub(super) fn is_automatic(context: &CallContext<'_>) -> Result<bool, Halt> {
    match context.text("collection_method").as_deref() {
        None | Some("charge_automatically") => Ok(true),
        Some("send_invoice") => Ok(false),
        Some(_) => {
            let message = "must be one of charge_automatically or send_invoice";
            Err(refused("collection_method", "invalid", message))
        }
    }
}

/// When what the call makes is to be paid.
pub(super) fn due_date(context: &CallContext<'_>) -> Result<Option<i64>, Halt> {
    if let Some(due) = context.int("due_date")? {
        return Ok(Some(due));
    }
    let days = context.int("days_until_due")?;
    if days.is_some_and(|days| !(0..=MAX_DAYS).contains(&days)) {
        let message = format!("must be from 0 to {MAX_DAYS}");
        return Err(refused("days_until_due", "invalid", message));
    }
    Ok(days.map(|days| context.seconds() + days * DAY))
}

fn given_fields(context: &mut CallContext<'_>, invoice: &StoredObject) -> Result<Value, Halt> {
    let mut fields = context.given(&["description", "footer"]);
    new_metadata(context, &invoice.object, &mut fields);
    if context.text("auto_advance").is_some() {
        fields["auto_advance"] = json!(context.flag("auto_advance"));
    }
    if let Some(due) = due_date(context)? {
        fields["due_date"] = json!(due);
    }
    if let Some(method) = context.text("default_payment_method") {
        fields["default_payment_method"] = json!(cards::named(context, &method)?.id);
    }
    Ok(fields)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let invoice = context.of_path("invoices")?;
    shown(context, invoice.object)
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let invoice = context.of_path("invoices")?;
    let fields = given_fields(context, &invoice)?;
    let before = invoice.object.clone();
    let invoice = context.change(invoice, fields);
    emit_change(context, "invoice.updated", &invoice, &before);
    shown(context, invoice.object)
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let invoice = in_state(context, &["draft"])?;
    context.remove(&invoice);
    emit(context, "invoice.deleted", &invoice);
    let gone = json!({"id": invoice.id, "object": "invoice", "deleted": true});
    Ok(MockReply::ok(&gone))
}

/// The invoice of the path, in one of these states.
fn in_state(context: &mut CallContext<'_>, states: &[&str]) -> Result<StoredObject, Halt> {
    let invoice = context.of_path("invoices")?;
    match invoice.state.as_deref() {
        Some(state) if states.contains(&state) => Ok(invoice),
        Some("paid") => Err(refused("", "invalid", "Invoice is already paid")),
        Some("draft") => {
            let message = "You can only do this to finalized invoices: finalize it first.";
            Err(refused("", "invoice_not_finalized", message))
        }
        state => {
            let state = state.unwrap_or_default();
            let message = format!("This invoice can no longer be changed: its status is {state}.");
            Err(refused("", "invoice_not_editable", message))
        }
    }
}

fn made_final(context: &mut CallContext<'_>, invoice: StoredObject) -> Result<StoredObject, Halt> {
    let customer = invoice.object["customer"].as_str().unwrap_or_default().to_owned();
    let customer = context.get("customers", &customer, "customer")?;
    Ok(billing::finalized(context, invoice, customer))
}

pub(super) fn finalize(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let invoice = in_state(context, &["draft"])?;
    let invoice = made_final(context, invoice)?;
    shown(context, invoice.object)
}

pub(super) fn send(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut invoice = in_state(context, &["draft", "open"])?;
    if invoice.state.as_deref() == Some("draft") {
        invoice = made_final(context, invoice)?;
    }
    emit(context, "invoice.sent", &invoice);
    shown(context, invoice.object)
}

pub(super) fn pay(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut invoice = in_state(context, &["draft", "open", "uncollectible"])?;
    billing::need(context, &invoice)?;
    if invoice.state.as_deref() == Some("draft") {
        invoice = made_final(context, invoice)?;
    }
    if invoice.state.as_deref() == Some("paid") {
        return shown(context, invoice.object);
    }
    if context.flag("paid_out_of_band") {
        let invoice = billing::paid(context, invoice);
        if let Some(id) = billing::subscription_of(&invoice) {
            renewals::after_payment(context, &id, None)?;
        }
        return shown(context, invoice.object);
    }
    let method = method_of(context, &invoice)?;
    let outcome = billing::collected(context, &invoice, &method)?;
    billing::unpaid(outcome, "invoice_payment_intent_requires_action")?;
    let invoice = context.get("invoices", &invoice.id, "id")?;
    shown(context, invoice.object)
}

/// What an invoice is paid with: what the call names, or its own, its subscription's or its customer's.
fn method_of(context: &mut CallContext<'_>, invoice: &StoredObject) -> Result<StoredObject, Halt> {
    if let Some(method) = cards::of_call(context)? {
        return Ok(method);
    }
    if let Some(method) = invoice.object["default_payment_method"].as_str() {
        return cards::named(context, method);
    }
    let subscription = match billing::subscription_of(invoice) {
        Some(id) => context.find("subscriptions", &id)?,
        None => None,
    };
    let customer = invoice.object["customer"].as_str().unwrap_or_default().to_owned();
    let customer = context.get("customers", &customer, "customer")?;
    let method = renewals::method_of(context, &customer, subscription.as_ref())?;
    method.ok_or_else(renewals::no_method)
}

pub(super) fn void(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let invoice = in_state(context, &["open", "uncollectible"])?;
    let invoice = billing::closed(context, invoice, "void")?;
    shown(context, invoice.object)
}

pub(super) fn give_up(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let invoice = in_state(context, &["open"])?;
    let invoice = billing::closed(context, invoice, "uncollectible")?;
    shown(context, invoice.object)
}

pub(super) fn lines(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let invoice = context.of_path("invoices")?;
    let lines = invoice.object["lines"]["data"].as_array().into_iter().flatten();
    let lines = lines.map(|line| part_of(&invoice, line.clone())).collect();
    lists::shown_page(context, lines)
}

/// Something that is kept within an object, as lists show objects.
pub(super) fn part_of(whole: &StoredObject, part: Value) -> StoredObject {
    let id = part["id"].as_str().unwrap_or_default().to_owned();
    StoredObject { id, object: part, state: None, hidden: Value::Null, ..whole.clone() }
}

/// The payments of an invoice, which is one at most: a list, as the API has it.
pub(super) fn payments_of(invoice: &Value) -> Value {
    let payments: Vec<_> = payment_of(invoice).into_iter().collect();
    json!({"object": "list", "data": payments, "has_more": false, "url": "/v1/invoice_payments"})
}

fn payment_of(invoice: &Value) -> Option<Value> {
    let secret = invoice.pointer("/confirmation_secret/client_secret")?.as_str()?;
    let (intent, _) = secret.split_once("_secret_")?;
    let id = invoice["id"].as_str()?.strip_prefix("in_")?;
    let status = match invoice["status"].as_str()? {
        "paid" => "paid",
        "void" => "canceled",
        _ => "open",
    };
    let moments = &invoice["status_transitions"];
    let is_paid = status == "paid";
    Some(json!({
        "id": format!("inpay_{id}"), "object": "invoice_payment",
        "amount_paid": is_paid.then(|| invoice["amount_paid"].clone()),
        "amount_requested": invoice["amount_due"], "created": invoice["created"],
        "currency": invoice["currency"], "invoice": invoice["id"], "is_default": true,
        "livemode": false, "payment": {"payment_intent": intent, "type": "payment_intent"},
        "status": status,
        "status_transitions": {"canceled_at": moments["voided_at"], "paid_at": moments["paid_at"]},
    }))
}

/// Payments of invoices, by the invoice or by the payment intent.
pub(super) fn payments(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (invoice, intent) = (context.text("invoice"), context.text("payment.payment_intent"));
    let status = context.text("status");
    let wanted = |wanted: &Option<String>, found: &Value| {
        wanted.as_ref().is_none_or(|wanted| found == wanted.as_str())
    };
    let mut payments = Vec::new();
    for found in context.list("invoices")? {
        let Some(payment) = payment_of(&found.object) else { continue };
        if wanted(&invoice, &payment["invoice"])
            && wanted(&intent, &payment["payment"]["payment_intent"])
            && wanted(&status, &payment["status"])
        {
            payments.push(part_of(&found, payment));
        }
    }
    lists::shown_page(context, payments)
}
