//! How a subscription goes on: its first invoice, the next periods, and what follows from payments.

use serde_json::{Value, json};
use trapline_model::Time;

use super::{
    billing::{self, Collected, InvoiceDraft},
    cards,
    invoice_items::{self, Period},
    prices::Sold,
    subscription_items::period_of,
    wire::{emit, emit_change, refused},
};
use crate::{
    StoredObject,
    context::CallContext,
    dates::after_months,
    failure::{CallFailure, Halt},
};

const DAY_MS: i64 = 86_400_000;
/// What a payment is declined with where a test has it fail.
const FAILURE: &str = "generic_decline";
/// States from which nothing goes on.
pub(super) const ENDED: [&str; 2] = ["canceled", "incomplete_expired"];

/// When a period that begins with the `cycle`th since `anchor` ends, in seconds.
pub(super) fn end_of(price: &Value, anchor: i64, cycle: i64) -> i64 {
    let recurring = &price["recurring"];
    let count = recurring["interval_count"].as_i64().unwrap_or(1);
    let units = count.saturating_mul(cycle.saturating_add(1));
    let start = Time::from_millis(anchor.saturating_mul(1_000));
    let days = |days: i64| start.millis().saturating_add(units.saturating_mul(days * DAY_MS));
    let end = match recurring["interval"].as_str() {
        Some("day") => days(1),
        Some("week") => days(7),
        Some("year") => after_months(start, units.saturating_mul(12)).millis(),
        _ => after_months(start, units).millis(),
    };
    end.div_euclid(1_000)
}

/// The method of a subscription, or else of its customer; none where neither has one.
pub(super) fn method_of(
    context: &mut CallContext<'_>,
    customer: &StoredObject,
    subscription: Option<&StoredObject>,
) -> Result<Option<StoredObject>, Halt> {
    let own = subscription.and_then(|it| it.object["default_payment_method"].as_str());
    let settings = &customer.object["invoice_settings"];
    let id = own.or_else(|| settings["default_payment_method"].as_str());
    id.map(|id| cards::named(context, id)).transpose()
}

/// The error where something is to be paid, and nothing is there to pay with.
pub(super) fn no_method() -> Halt {
    let message = "This customer has no attached payment source or default payment method. \
                   Please consider adding a default payment method.";
    refused("", "resource_missing", message)
}

/// What the items of a subscription sell.
fn sold_of(subscription: &StoredObject) -> Vec<(String, Sold)> {
    let items = subscription.object["items"]["data"].as_array().into_iter().flatten();
    let sold = |item: &Value| {
        let id = item["id"].as_str().unwrap_or_default().to_owned();
        let names = &subscription.hidden["names"];
        let name = names[&id].as_str().unwrap_or_default().to_owned();
        let quantity = item["quantity"].as_i64().unwrap_or(1);
        let price = item["price"].clone();
        let amount = price["unit_amount"].as_i64().unwrap_or(0).saturating_mul(quantity);
        (id, Sold { price, name, quantity, amount })
    };
    items.map(sold).collect()
}

/// Makes the invoice of a subscription's period, and charges it where that is wanted. What is paid but once is of the
/// first invoice alone.
pub(super) fn invoiced(
    context: &mut CallContext<'_>,
    subscription: &StoredObject,
    customer: &StoredObject,
    once: &[Sold],
    reason: &'static str,
) -> StoredObject {
    let period = period_of(subscription);
    let is_trial = subscription.state.as_deref() == Some("trialing");
    let mut lines = Vec::new();
    for (item, sold) in sold_of(subscription) {
        let of = (subscription.id.as_str(), item.as_str());
        lines.push(invoice_items::of_subscription(context, &sold, of, period, is_trial));
    }
    let now = Period { start: context.seconds(), end: context.seconds() };
    for sold in once {
        let of = (subscription.id.as_str(), "");
        lines.push(invoice_items::of_subscription(context, sold, of, now, false));
    }
    let object = &subscription.object;
    let days = object["days_until_due"].as_i64();
    let draft = InvoiceDraft {
        customer,
        currency: object["currency"].as_str().unwrap_or_default(),
        lines,
        subscription: Some(subscription),
        reason,
        is_automatic: object["collection_method"] == "charge_automatically",
        due_date: days.map(|days| context.seconds() + days * DAY_MS / 1_000),
    };
    let invoice = billing::drafted(context, &draft);
    emit(context, "invoice.created", &invoice);
    billing::finalized(context, invoice, customer.clone())
}

/// The subscription with its items in another period.
pub(super) fn with_period(
    context: &mut CallContext<'_>,
    subscription: StoredObject,
    period: Period,
) -> StoredObject {
    let mut items = subscription.object["items"].clone();
    for item in items["data"].as_array_mut().into_iter().flatten() {
        item["current_period_start"] = json!(period.start);
        item["current_period_end"] = json!(period.end);
    }
    context.change(subscription, json!({"items": items}))
}

/// A period ends: the subscription ends with it, or its next one begins with an invoice that is charged.
pub(super) fn renewed(
    context: &mut CallContext<'_>,
    subscription: StoredObject,
) -> Result<StoredObject, Halt> {
    let customer = subscription.object["customer"].as_str().unwrap_or_default().to_owned();
    let customer = context.get("customers", &customer, "customer")?;
    let method = method_of(context, &customer, Some(&subscription))?;
    if subscription.object["cancel_at_period_end"] == true {
        return Ok(ended(context, subscription, "canceled"));
    }
    let before = subscription.object.clone();
    let was_trial = subscription.state.as_deref() == Some("trialing");
    let start = period_of(&subscription).end;
    let mut subscription = subscription;
    let cycle = if was_trial { 0 } else { subscription.hidden["cycle"].as_i64().unwrap_or(0) + 1 };
    subscription.hidden["cycle"] = json!(cycle);
    let anchor =
        if was_trial { start } else { before["billing_cycle_anchor"].as_i64().unwrap_or(start) };
    let end = end_of(&before["items"]["data"][0]["price"], anchor, cycle);
    let subscription = with_period(context, subscription, Period { start, end });
    let fields = json!({"status": "active", "billing_cycle_anchor": anchor});
    let subscription = context.change(subscription, fields);
    let invoice = invoiced(context, &subscription, &customer, &[], "subscription_cycle");
    let subscription = context.change(subscription, json!({"latest_invoice": invoice.id}));
    emit_change(context, "customer.subscription.updated", &subscription, &before);
    if invoice.state.as_deref() == Some("open") {
        charged(context, &invoice, method)?;
    }
    context.get("subscriptions", &subscription.id, "subscription")
}

/// Charges an open invoice, where it is to be. That it fails is no mistake: the subscription tells of it.
fn charged(
    context: &mut CallContext<'_>,
    invoice: &StoredObject,
    method: Option<StoredObject>,
) -> Result<(), Halt> {
    if invoice.object["collection_method"] != "charge_automatically" {
        return Ok(());
    }
    let subscription = billing::subscription_of(invoice).unwrap_or_default();
    let Some(method) = method else { return after_failure(context, &subscription) };
    match billing::collected(context, invoice, &method)? {
        Collected::Waits => after_failure(context, &subscription),
        Collected::Paid | Collected::Declined(..) => Ok(()),
    }
}

/// A step that a test takes: a trial ends, a payment fails, or the subscription ends.
pub(super) fn take(
    context: &mut CallContext<'_>,
    subscription: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    match to {
        "active" => renewed(context, subscription),
        "past_due" => {
            let declined = context.decline.take();
            context.decline = Some(declined.unwrap_or_else(|| FAILURE.to_owned()));
            renewed(context, subscription)
        }
        _ => Ok(ended(context, subscription, to)),
    }
}

/// The next period begins, when a test says so.
pub(super) fn next_period(
    context: &mut CallContext<'_>,
    object: Option<StoredObject>,
) -> Result<StoredObject, Halt> {
    let goes_on =
        |it: &StoredObject| matches!(it.state.as_deref(), Some("active" | "trialing" | "past_due"));
    let wanted = object.filter(|it| it.kind == "subscriptions" && goes_on(it));
    let message = "must be the id of a subscription that is active, trialing or past_due";
    renewed(context, wanted.ok_or_else(|| CallFailure::invalid("objectId", message))?)
}

/// The subscriptions of a customer that have not ended.
pub(super) fn running(
    context: &mut CallContext<'_>,
    customer: &str,
) -> Result<Vec<StoredObject>, Halt> {
    let mut found = context.list("subscriptions")?;
    let runs = |state: Option<&str>| state.is_some_and(|state| !ENDED.contains(&state));
    found.retain(|it| it.object["customer"] == customer && runs(it.state.as_deref()));
    // Together, so that all of them can be changed.
    context.need_rows("subscriptions", found.iter().map(|it| it.id.clone()))?;
    Ok(found)
}

/// The subscription in a state in which nothing more is paid.
pub(super) fn ended(
    context: &mut CallContext<'_>,
    subscription: StoredObject,
    to: &'static str,
) -> StoredObject {
    let (before, now) = (subscription.object.clone(), context.seconds());
    let mut fields = json!({"status": to});
    if ENDED.contains(&to) {
        fields["ended_at"] = json!(now);
    }
    if to == "canceled" {
        fields["canceled_at"] = json!(before["canceled_at"].as_i64().unwrap_or(now));
        let mut details = before["cancellation_details"].clone();
        details["reason"] = json!("cancellation_requested");
        fields["cancellation_details"] = details;
    }
    let subscription = context.change(subscription, fields);
    if to == "canceled" {
        emit(context, "customer.subscription.deleted", &subscription);
    } else {
        emit_change(context, "customer.subscription.updated", &subscription, &before);
    }
    subscription
}

/// An invoice of a subscription was paid: it goes on.
pub(super) fn after_payment(
    context: &mut CallContext<'_>,
    id: &str,
    method: Option<&StoredObject>,
) -> Result<(), Halt> {
    let Some(subscription) = context.find("subscriptions", id)? else { return Ok(()) };
    let mut fields = json!({});
    if matches!(subscription.state.as_deref(), Some("incomplete" | "past_due" | "unpaid")) {
        fields["status"] = json!("active");
    }
    let saves = &subscription.object["payment_settings"]["save_default_payment_method"];
    if let (Some(method), "on_subscription") = (method, saves.as_str().unwrap_or_default()) {
        fields["default_payment_method"] = json!(method.id);
    }
    changed(context, subscription, fields);
    Ok(())
}

/// An invoice of a subscription was not paid: one that was paid for before is late.
pub(super) fn after_failure(context: &mut CallContext<'_>, id: &str) -> Result<(), Halt> {
    let found = context.find("subscriptions", id)?;
    if let Some(subscription) = found.filter(|it| it.state.as_deref() == Some("active")) {
        changed(context, subscription, json!({"status": "past_due"}));
    }
    Ok(())
}

/// Changes a subscription, and tells of it where anything is another then.
pub(super) fn changed(
    context: &mut CallContext<'_>,
    subscription: StoredObject,
    fields: Value,
) -> StoredObject {
    let before = subscription.object.clone();
    let subscription = context.change(subscription, fields);
    if subscription.object != before {
        emit_change(context, "customer.subscription.updated", &subscription, &before);
    }
    subscription
}
