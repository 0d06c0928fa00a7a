//! Subscriptions, as an app makes, changes and ends them.

use serde_json::{Map, Value, json};

use super::{
    billing, cards,
    invoice_items::Period,
    invoices::{due_date, is_automatic},
    prices::{self, Sold},
    renewals::{self, ENDED, changed, end_of, ended, invoiced, method_of, no_method},
    subscription_items::{self, given_items, item},
    wire::{emit, new_metadata, refused, shown},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Days of a trial, at most: two years.
const MAX_TRIAL: i64 = 730;
const DAY: i64 = 86_400;
/// What happens where the first invoice is not paid.
const BEHAVIORS: [&str; 4] =
    ["allow_incomplete", "default_incomplete", "error_if_incomplete", "pending_if_incomplete"];
/// Code of the error where the owner of a card has to confirm the first payment.
const ACTION: &str = "subscription_payment_intent_requires_action";

/// What a new subscription is to be.
pub(super) struct SubscriptionTerms {
    pub(super) is_automatic: bool,
    pub(super) days_until_due: Option<i64>,
    /// When its trial ends, in seconds.
    pub(super) trial_end: Option<i64>,
    pub(super) behavior: String,
    pub(super) method: Option<StoredObject>,
    pub(super) metadata: Value,
    pub(super) description: Value,
    pub(super) saves_method: bool,
}

/// What becomes of the first invoice.
enum FirstPayment {
    /// Nothing is asked for, or it is asked for by mail.
    None,
    /// The app goes on with it.
    Waits,
    /// It is charged, which succeeds.
    Succeeds(StoredObject),
    /// It is charged, and declined or to be confirmed by the owner of the card.
    Fails(StoredObject),
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (customer, items) = (context.need("customer")?, given_items(context)?);
    // Both at once: a call may come back for more only a few times.
    let known = context.need_rows("customers", [customer.clone()]);
    let sold = prices::sold(context, &items, "items", true);
    known?;
    let (customer, sold) = (context.get("customers", &customer, "customer")?, sold?);
    if sold.iter().any(|sold| !sold.is_recurring()) {
        let message = "The price specified is set to `type=one_time` but this field only accepts \
                       prices with `type=recurring`.";
        return Err(refused("items", "invalid", message));
    }
    let terms = terms(context)?;
    let subscription = begun(context, &customer, sold, &terms)?;
    let cancels = context.flag("cancel_at_period_end");
    let subscription = if cancels {
        context.change(subscription, cancelling(context.seconds(), true))
    } else {
        subscription
    };
    shown(context, subscription.object)
}

fn terms(context: &mut CallContext<'_>) -> Result<SubscriptionTerms, Halt> {
    let behavior = context.text("payment_behavior").unwrap_or_else(|| BEHAVIORS[0].to_owned());
    if !BEHAVIORS.contains(&behavior.as_str()) {
        let message = format!("must be one of {}", BEHAVIORS.join(", "));
        return Err(refused("payment_behavior", "invalid", message));
    }
    let method = context.text("default_payment_method");
    let method = method.map(|id| cards::named(context, &id)).transpose()?;
    due_date(context)?;
    let saves = context.text("payment_settings.save_default_payment_method");
    Ok(SubscriptionTerms {
        is_automatic: is_automatic(context)?,
        days_until_due: context.int("days_until_due")?,
        trial_end: trial_end(context, "")?,
        behavior,
        method,
        metadata: context.map("metadata"),
        description: context.or_null("description"),
        saves_method: saves.as_deref() == Some("on_subscription"),
    })
}

/// When the trial that a call asks for ends; none without one. `under` is where the fields are, with a dot.
pub(super) fn trial_end(context: &CallContext<'_>, under: &str) -> Result<Option<i64>, Halt> {
    let days = context.int(&format!("{under}trial_period_days"))?.filter(|days| *days != 0);
    if days.is_some_and(|days| !(1..=MAX_TRIAL).contains(&days)) {
        let message = format!("must be from 1 to {MAX_TRIAL}");
        return Err(refused(&format!("{under}trial_period_days"), "invalid", message));
    }
    let now = context.seconds();
    let field = format!("{under}trial_end");
    if context.text(&field).is_none_or(|end| end == "now") {
        return Ok(days.map(|days| now + days * DAY));
    }
    match context.int(&field)? {
        Some(end) if end > now && end <= now + MAX_TRIAL * DAY => Ok(Some(end)),
        _ => Err(refused(&field, "invalid", "must be in the future, and within two years")),
    }
}

/// A new subscription of a customer, with its first invoice.
pub(super) fn begun(
    context: &mut CallContext<'_>,
    customer: &StoredObject,
    sold: Vec<Sold>,
    terms: &SubscriptionTerms,
) -> Result<StoredObject, Halt> {
    let (_, currency) = prices::total(&sold, "items")?;
    let (sold, once): (Vec<_>, Vec<_>) = sold.into_iter().partition(Sold::is_recurring);
    let recurring = sold.first().map(|it| it.price["recurring"].clone());
    let rhythm = |it: &Sold| {
        let recurring = &it.price["recurring"];
        (recurring["interval"].clone(), recurring["interval_count"].clone())
    };
    if recurring.is_none() || sold.iter().any(|it| rhythm(it) != rhythm(&sold[0])) {
        let message = "All prices of a subscription must have the same interval.";
        return Err(refused("items", "invalid", message));
    }
    let due = once.iter().chain(sold.iter().filter(|_| terms.trial_end.is_none()));
    let due = due.map(|it| it.amount).fold(0, i64::saturating_add);
    let first = first_payment(context, customer, terms, due)?;
    let status = match (&first, terms.trial_end) {
        (_, Some(_)) => "trialing",
        (FirstPayment::None | FirstPayment::Succeeds(_), None) => "active",
        _ => "incomplete",
    };
    let subscription = made(context, customer, &sold, terms, (status, &currency));
    let invoice = invoiced(context, &subscription, customer, &once, "subscription_create");
    let subscription = context.change(subscription, json!({"latest_invoice": invoice.id}));
    emit(context, "customer.subscription.created", &subscription);
    if let FirstPayment::Succeeds(method) | FirstPayment::Fails(method) = first {
        // That it fails is no mistake: the status tells of it.
        billing::collected(context, &invoice, &method)?;
    }
    context.get("subscriptions", &subscription.id, "subscription")
}

/// Whether and how the first invoice is paid, before anything is written.
fn first_payment(
    context: &mut CallContext<'_>,
    customer: &StoredObject,
    terms: &SubscriptionTerms,
    due: i64,
) -> Result<FirstPayment, Halt> {
    if !terms.is_automatic || due == 0 {
        return Ok(FirstPayment::None);
    }
    if terms.behavior == "default_incomplete" {
        return Ok(FirstPayment::Waits);
    }
    let method = match terms.method.clone() {
        Some(method) => method,
        None => method_of(context, customer, None)?.ok_or_else(no_method)?,
    };
    let must_pay = terms.behavior == "error_if_incomplete";
    match context.declined(&[&cards::trigger(&method)]) {
        Some(decline) if must_pay => Err(CallFailure::Declined(decline, Value::Null).into()),
        Some(_) => Ok(FirstPayment::Fails(method)),
        None if cards::needs_action(&method) && must_pay => Err(billing::unconfirmed(ACTION)),
        None if cards::needs_action(&method) => Ok(FirstPayment::Fails(method)),
        None => Ok(FirstPayment::Succeeds(method)),
    }
}

fn made(
    context: &mut CallContext<'_>,
    customer: &StoredObject,
    sold: &[Sold],
    terms: &SubscriptionTerms,
    (status, currency): (&str, &str),
) -> StoredObject {
    let (id, now) = (context.id("subscriptions"), context.seconds());
    let anchor = terms.trial_end.unwrap_or(now);
    let end = terms.trial_end.unwrap_or_else(|| end_of(&sold[0].price, now, 0));
    let period = Period { start: now, end };
    let mut names = Map::new();
    let mut items = Vec::new();
    for sold in sold {
        let item = item(context, sold, &id, period);
        names.insert(item["id"].as_str().unwrap_or_default().to_owned(), json!(sold.name));
        items.push(item);
    }
    let method = terms.method.as_ref().map(|method| method.id.clone());
    let saves = if terms.saves_method { "on_subscription" } else { "off" };
    let collection = if terms.is_automatic { "charge_automatically" } else { "send_invoice" };
    let list = json!({"object": "list", "data": items, "has_more": false, "url": format!("/v1/subscription_items?subscription={id}")});
    let object = json!({
        "id": id, "object": "subscription", "application": null, "application_fee_percent": null,
        "automatic_tax": {"disabled_reason": null, "enabled": false, "liability": null},
        "billing_cycle_anchor": anchor, "billing_cycle_anchor_config": null,
        "billing_mode": {"flexible": null, "type": "classic"}, "billing_schedules": [],
        "billing_thresholds": null, "cancel_at": null, "cancel_at_period_end": false,
        "canceled_at": null,
        "cancellation_details": {"comment": null, "feedback": null, "reason": null},
        "collection_method": collection, "created": now, "currency": currency,
        "customer": customer.id, "days_until_due": terms.days_until_due,
        "default_payment_method": method, "default_source": null, "default_tax_rates": [],
        "description": terms.description, "discounts": [], "ended_at": null, "status": status,
    });
    let subscription = context.create("subscriptions", &id, object);
    let fields = json!({
        "invoice_settings": {"account_tax_ids": null, "issuer": {"type": "self"}},
        "items": list, "latest_invoice": null, "livemode": false, "metadata": terms.metadata,
        "next_pending_invoice_item_invoice": null, "on_behalf_of": null, "pause_collection": null,
        "payment_settings": {"payment_method_options": null, "payment_method_types": null, "save_default_payment_method": saves},
        "pending_invoice_item_interval": null, "pending_setup_intent": null, "pending_update": null,
        "schedule": null, "start_date": now, "test_clock": null, "transfer_data": null,
        "trial_end": terms.trial_end,
        "trial_settings": {"end_behavior": {"missing_payment_method": "create_invoice"}},
        "trial_start": terms.trial_end.map(|_| now),
    });
    let mut subscription = context.change(subscription, fields);
    subscription.hidden = json!({"cycle": 0, "names": names});
    context.put(subscription)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let subscription = context.of_path("subscriptions")?;
    shown(context, subscription.object)
}

/// What a subscription has while it is to end with its period.
pub(super) fn cancelling(now: i64, is_so: bool) -> Value {
    let reason = is_so.then_some("cancellation_requested");
    json!({
        "cancel_at_period_end": is_so, "canceled_at": is_so.then_some(now),
        "cancellation_details": {"comment": null, "feedback": null, "reason": reason},
    })
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let subscription = context.of_path("subscriptions")?;
    let mut fields = json!({});
    new_metadata(context, &subscription.object, &mut fields);
    if ENDED.contains(&subscription.state.as_deref().unwrap_or_default()) {
        if context.body.as_object().is_some_and(|body| body.keys().any(|key| key != "metadata")) {
            let message =
                "A canceled subscription can only update its cancellation_details and metadata.";
            return Err(refused("", "invalid", message));
        }
        let subscription = changed(context, subscription, fields);
        return shown(context, subscription.object);
    }
    let mut subscription = subscription;
    given_fields(context, &mut fields)?;
    if context.field("items").is_some() {
        fields["items"] = subscription_items::changed(context, &mut subscription)?;
    }
    let ends_trial = context.text("trial_end").as_deref() == Some("now")
        && subscription.state.as_deref() == Some("trialing");
    let mut subscription = changed(context, subscription, fields);
    if ends_trial {
        let now = context.seconds();
        let period = Period { end: now, ..subscription_items::period_of(&subscription) };
        subscription = renewals::with_period(context, subscription, period);
        subscription = context.change(subscription, json!({"trial_end": now}));
        subscription = renewals::renewed(context, subscription)?;
    }
    shown(context, subscription.object)
}

fn given_fields(context: &mut CallContext<'_>, fields: &mut Value) -> Result<(), Halt> {
    if let (Some(given), Some(fields)) =
        (context.given(&["description"]).as_object(), fields.as_object_mut())
    {
        fields.extend(given.clone());
    }
    if let (true, Some(fields)) =
        (context.text("cancel_at_period_end").is_some(), fields.as_object_mut())
    {
        let cancelling = cancelling(context.seconds(), context.flag("cancel_at_period_end"));
        fields.extend(cancelling.as_object().cloned().unwrap_or_default());
    }
    if let Some(method) = context.text("default_payment_method") {
        fields["default_payment_method"] = json!(cards::named(context, &method)?.id);
    }
    if context.text("collection_method").is_some() {
        is_automatic(context)?;
        fields["collection_method"] = context.or_null("collection_method");
    }
    if let Some(days) = context.int("days_until_due")? {
        due_date(context)?;
        fields["days_until_due"] = json!(days);
    }
    if let Some(end) = trial_end(context, "")? {
        fields["trial_end"] = json!(end);
        fields["billing_cycle_anchor"] = json!(end);
    }
    Ok(())
}

pub(super) fn cancel(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let subscription = context.of_path("subscriptions")?;
    if ENDED.contains(&subscription.state.as_deref().unwrap_or_default()) {
        let (kind, id) = ("subscriptions", subscription.id);
        return Err(CallFailure::NotFound { kind, id, field: "id" }.into());
    }
    let mut details = subscription.object["cancellation_details"].clone();
    for name in ["comment", "feedback"] {
        details[name] = context.or_null(&format!("cancellation_details.{name}"));
    }
    let subscription = context.change(subscription, json!({"cancellation_details": details}));
    let subscription = ended(context, subscription, "canceled");
    shown(context, subscription.object)
}
