//! Checkout: a page on which somebody pays, or leaves a card.

use serde_json::{Value, json};

use super::{
    cards, customers, intents,
    invoices::part_of,
    lists,
    prices::{self, Sold},
    registered::web_address,
    setups,
    subscriptions::{self, SubscriptionTerms},
    wire::{emit, shown},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const MAX_ITEMS: usize = 100;
/// The same of what is paid for in each period.
const MAX_RECURRING: usize = 20;
/// Seconds until a session ends.
const LIFETIME: i64 = 24 * 3_600;
/// The card that is paid with on the page.
pub(super) const CARD: &str = "pm_card_visa";
/// What stands for the session's id in the address that somebody returns to.
const SESSION_ID: &str = "{CHECKOUT_SESSION_ID}";

/// What is bought.
struct Bought {
    amount: i64,
    currency: Value,
    sold: Vec<Sold>,
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mode = context.text("mode").unwrap_or_else(|| "payment".to_owned());
    if !["payment", "setup", "subscription"].contains(&mode.as_str()) {
        let message = "must be one of payment, setup, or subscription";
        return Err(CallFailure::invalid("mode", message).into());
    }
    let success = web_address(context, "success_url")?;
    let has_cancel = context.text("cancel_url").is_some();
    let cancel = has_cancel.then(|| web_address(context, "cancel_url")).transpose()?;
    let customer = context.text("customer");
    let known = context.need_rows("customers", customer.clone());
    let bought = bought(context, &mode);
    known?;
    if let Some(customer) = &customer {
        context.get("customers", customer, "customer")?;
    }
    let bought = bought?;
    let trial_end = subscriptions::trial_end(context, "subscription_data.")?;
    let due = if trial_end.is_some() { 0 } else { bought.amount };
    let amount = if mode == "setup" { Value::Null } else { json!(due) };
    let id = context.id("sessions");
    let url = context.page_url("sessions", &id);
    let object = json!({
        "id": id,
        "object": "checkout.session",
        "after_expiration": null,
        "allow_promotion_codes": null,
        "amount_subtotal": amount,
        "amount_total": amount,
        "automatic_tax": {"enabled": false, "liability": null, "provider": null, "status": null},
        "billing_address_collection": null,
        "cancel_url": cancel,
        "client_reference_id": context.or_null("client_reference_id"),
        "client_secret": null,
        "consent": null,
        "consent_collection": null,
        "created": context.seconds(),
        "status": "open",
        "currency": bought.currency,
        "currency_conversion": null,
        "custom_fields": [],
        "custom_text": {
            "after_submit": null, "shipping_address": null, "submit": null,
            "terms_of_service_acceptance": null,
        },
        "customer": customer,
        "customer_creation": match mode.as_str() {
            "payment" => json!("if_required"),
            "subscription" => json!("always"),
            _ => Value::Null,
        },
        "customer_details": null,
        "customer_email": context.or_null("customer_email"),
    });
    let mut session = context.create("sessions", &id, object);
    let of = if mode == "subscription" { "subscription_data" } else { "payment_intent_data" };
    session.hidden = json!({
        "items": bought.sold.iter().map(|sold| line_item(context, sold)).collect::<Vec<_>>(),
        "metadata": context.map(&format!("{of}.metadata")),
        "trial_end": trial_end,
    });
    let is_unpaid = mode != "setup" && due > 0;
    let mut fields = terms(context, &mode, is_unpaid);
    fields["success_url"] = success.into();
    fields["url"] = url.into();
    let session = context.change(session, fields);
    shown(context, session.object)
}

/// What a session says of how it is paid, and what it leaves to the provider.
fn terms(context: &CallContext<'_>, mode: &str, is_unpaid: bool) -> Value {
    json!({
        "expires_at": context.seconds() + LIFETIME,
        "invoice": null,
        "livemode": false,
        "locale": context.or_null("locale"),
        "metadata": context.map("metadata"),
        "mode": mode,
        "payment_intent": null,
        "payment_link": null,
        "payment_method_collection": if mode == "subscription" { "always" } else { "if_required" },
        "payment_method_options": {},
        "payment_method_types": ["card"],
        "payment_status": if is_unpaid { "unpaid" } else { "no_payment_required" },
        "phone_number_collection": {"enabled": false},
        "recovered_from": null,
        "setup_intent": null,
        "shipping_address_collection": null,
        "shipping_cost": null,
        "shipping_options": [],
        "submit_type": null,
        "subscription": null,
        "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
        "ui_mode": "hosted_page",
    })
}

fn bought(context: &mut CallContext<'_>, mode: &str) -> Result<Bought, Halt> {
    if mode == "setup" {
        let currency = context.or_null("currency");
        return Ok(Bought { amount: 0, currency, sold: Vec::new() });
    }
    let items = context.field("line_items").and_then(Value::as_array).cloned();
    let most = if mode == "payment" { MAX_ITEMS } else { MAX_RECURRING };
    let items = items.filter(|items| !items.is_empty() && items.len() <= most);
    let items = items.ok_or_else(|| CallFailure::missing("line_items"))?;
    // What a subscription is of is asked for later.
    let sold = prices::sold(context, &items, "line_items", mode == "subscription")?;
    let (amount, currency) = prices::total(&sold, "line_items")?;
    let message = match (mode, sold.iter().any(Sold::is_recurring)) {
        ("payment", true) => "You specified `payment` mode but passed a recurring price.",
        ("subscription", false) => {
            "You must provide at least one recurring price in `subscription` mode."
        }
        _ => return Ok(Bought { amount, currency: json!(currency), sold }),
    };
    Err(CallFailure::invalid("line_items", message).into())
}

fn line_item(context: &CallContext<'_>, sold: &Sold) -> Value {
    json!({
        "id": context.chance.id("li_", 24, context.now), "object": "item",
        "adjustable_quantity": null, "amount_discount": 0, "amount_subtotal": sold.amount,
        "amount_tax": 0, "amount_total": sold.amount, "currency": sold.price["currency"],
        "description": sold.name, "metadata": {}, "price": sold.price, "quantity": sold.quantity,
    })
}

/// What a session sells, as it was kept with it.
fn sold_of(session: &StoredObject) -> Vec<Sold> {
    let items = session.hidden["items"].as_array().into_iter().flatten();
    let sold = |item: &Value| Sold {
        price: item["price"].clone(),
        name: item["description"].as_str().unwrap_or_default().to_owned(),
        quantity: item["quantity"].as_i64().unwrap_or(1),
        amount: item["amount_total"].as_i64().unwrap_or(0),
    };
    items.map(sold).collect()
}

/// The list of what a session sells.
pub(super) fn items_of(
    context: &mut CallContext<'_>,
    session: &Value,
) -> Result<Option<Value>, Halt> {
    let id = session["id"].as_str().unwrap_or_default();
    let items = context.find("sessions", id)?.map(|session| session.hidden["items"].clone());
    let url = format!("/v1/checkout/sessions/{id}/line_items");
    Ok(items.map(|items| json!({"object": "list", "data": items, "has_more": false, "url": url})))
}

pub(super) fn items(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let session = context.of_path("sessions")?;
    let items = session.hidden["items"].as_array().into_iter().flatten();
    let items = items.map(|item| part_of(&session, item.clone())).collect();
    lists::shown_page(context, items)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let session = context.of_path("sessions")?;
    shown(context, session.object)
}

pub(super) fn expire(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let session = context.of_path("sessions")?;
    if session.state.as_deref() != Some("open") {
        let message = "Only Checkout Sessions with a status in [\"open\"] can be expired.";
        return Err(CallFailure::invalid("", message).into());
    }
    let session = ended(context, session);
    shown(context, session.object)
}

fn ended(context: &mut CallContext<'_>, session: StoredObject) -> StoredObject {
    let session = context.change(session, json!({"status": "expired", "url": null}));
    emit(context, "checkout.session.expired", &session);
    session
}

/// Pays, or leaves the card; or ends.
pub(super) fn take(
    context: &mut CallContext<'_>,
    session: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    if to == "expired" {
        return Ok(ended(context, session));
    }
    let method = cards::named(context, CARD)?;
    let fields = match session.object["mode"].as_str() {
        Some("setup") => {
            let customer = session.object["customer"].as_str();
            let setup = setups::new(context, customer, Some(&method));
            let setup = setups::kept(context, setup, method);
            json!({"setup_intent": setup.id})
        }
        Some("subscription") if context.declined(&[&cards::trigger(&method)]).is_none() => {
            subscribed(context, &session, method)?
        }
        _ => {
            let intent = paid(context, &session, &method)?;
            json!({"payment_intent": intent.id, "payment_status": "paid"})
        }
    };
    let session = context.change(session, fields);
    let email = &session.object["customer_email"];
    let details = json!({"address": null, "email": email, "name": null, "phone": null,
        "tax_exempt": "none", "tax_ids": []});
    let fields = json!({"status": "complete", "url": null, "customer_details": details});
    let session = context.change(session, fields);
    emit(context, "checkout.session.completed", &session);
    Ok(session)
}

fn paid(
    context: &mut CallContext<'_>,
    session: &StoredObject,
    method: &StoredObject,
) -> Result<StoredObject, Halt> {
    let currency = session.object["currency"].as_str().unwrap_or_default();
    let amount = session.object["amount_total"].as_i64().unwrap_or(0);
    let customer = session.object["customer"].as_str();
    let intent = intents::new(context, amount, currency, customer, Some(method));
    let intent = context.change(intent, json!({"metadata": session.hidden["metadata"]}));
    emit(context, "payment_intent.created", &intent);
    intents::charged(context, intent, method)
}

/// Makes the subscription, of the session's customer or a new one.
fn subscribed(
    context: &mut CallContext<'_>,
    session: &StoredObject,
    method: StoredObject,
) -> Result<Value, Halt> {
    let customer = if let Some(id) = session.object["customer"].as_str() {
        context.get("customers", id, "customer")?
    } else {
        let email = json!({"email": session.object["customer_email"]});
        let customer = customers::made(context, &email);
        emit(context, "customer.created", &customer);
        customer
    };
    let method = context.change(method, json!({"customer": customer.id}));
    let terms = SubscriptionTerms {
        is_automatic: true,
        days_until_due: None,
        trial_end: session.hidden["trial_end"].as_i64(),
        behavior: "allow_incomplete".to_owned(),
        method: Some(method),
        metadata: session.hidden["metadata"].clone(),
        description: Value::Null,
        saves_method: false,
    };
    let subscription = subscriptions::begun(context, &customer, sold_of(session), &terms)?;
    let status = if terms.trial_end.is_some() { "no_payment_required" } else { "paid" };
    Ok(json!({
        "customer": customer.id, "invoice": subscription.object["latest_invoice"],
        "payment_status": status, "subscription": subscription.id,
    }))
}

/// Where somebody goes who paid, or who does not.
pub(super) fn back(session: &StoredObject, has_decided: bool) -> Option<String> {
    let is_paid = has_decided && session.state.as_deref() != Some("expired");
    let field = if is_paid { "success_url" } else { "cancel_url" };
    let url = session.object[field].as_str()?;
    Some(url.replace(SESSION_ID, &session.id))
}
