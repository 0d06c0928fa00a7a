//! Checkout: a page on which somebody pays, or leaves a card.

use serde_json::{Value, json};

use super::{
    cards, intents,
    registered::web_address,
    setups,
    wire::{emit, shown},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const MAX_ITEMS: usize = 100;
/// Seconds until a session ends.
const LIFETIME: i64 = 24 * 3_600;
/// The card that is paid with on the page.
const CARD: &str = "pm_card_visa";
/// What stands for the session's id in the address that somebody returns to.
const SESSION_ID: &str = "{CHECKOUT_SESSION_ID}";

/// What is bought, and the name of it.
struct Bought {
    amount: i64,
    currency: Value,
    names: Vec<String>,
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mode = context.text("mode").unwrap_or_else(|| "payment".to_owned());
    if !["payment", "setup"].contains(&mode.as_str()) {
        return Err(CallFailure::invalid("mode", "must be payment or setup here").into());
    }
    let success = web_address(context, "success_url")?;
    let has_cancel = context.text("cancel_url").is_some();
    let cancel = has_cancel.then(|| web_address(context, "cancel_url")).transpose()?;
    let customer = context.text("customer");
    if let Some(customer) = &customer {
        context.get("customers", customer, "customer")?;
    }
    let bought = bought(context, &mode)?;
    let amount = if mode == "payment" { json!(bought.amount) } else { Value::Null };
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
        "customer_creation": if mode == "payment" { json!("if_required") } else { Value::Null },
        "customer_details": null,
        "customer_email": context.or_null("customer_email"),
    });
    let mut session = context.create("sessions", &id, object);
    session.hidden = json!({
        "names": bought.names,
        "metadata": context.map("payment_intent_data.metadata"),
    });
    let is_payment = mode == "payment";
    let fields = json!({
        "expires_at": context.seconds() + LIFETIME,
        "invoice": null,
        "livemode": false,
        "locale": context.or_null("locale"),
        "metadata": context.map("metadata"),
        "mode": mode,
        "payment_intent": null,
        "payment_link": null,
        "payment_method_collection": "if_required",
        "payment_method_options": {},
        "payment_method_types": ["card"],
        "payment_status": if is_payment { "unpaid" } else { "no_payment_required" },
        "phone_number_collection": {"enabled": false},
        "recovered_from": null,
        "setup_intent": null,
        "shipping_address_collection": null,
        "shipping_cost": null,
        "shipping_options": [],
        "submit_type": null,
        "subscription": null,
        "success_url": success,
        "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
        "ui_mode": "hosted",
        "url": url,
    });
    let session = context.change(session, fields);
    shown(context, session.object)
}

fn bought(context: &CallContext<'_>, mode: &str) -> Result<Bought, Halt> {
    if mode == "setup" {
        let currency = context.or_null("currency");
        return Ok(Bought { amount: 0, currency, names: Vec::new() });
    }
    let items = context.field("line_items").and_then(Value::as_array);
    let items = items.filter(|items| !items.is_empty() && items.len() <= MAX_ITEMS);
    let items = items.ok_or_else(|| CallFailure::missing("line_items"))?;
    let (mut total, mut currency, mut names) = (0_i64, None, Vec::new());
    for item in items {
        let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str);
        if let Some(price) = text("/price") {
            let (id, field) = (price.to_owned(), "line_items[0][price]");
            return Err(CallFailure::NotFound { kind: "prices", id, field }.into());
        }
        let number = |pointer: &str| text(pointer).and_then(|text| text.parse::<i64>().ok());
        let price = number("/price_data/unit_amount").filter(|price| *price >= 0);
        let quantity = item.get("quantity").map_or(Some(1), |_| number("/quantity"));
        let amount = price.zip(quantity.filter(|quantity| *quantity > 0));
        let amount = amount.and_then(|(price, quantity)| price.checked_mul(quantity));
        let sum = amount.and_then(|amount| total.checked_add(amount));
        let wrong = "each needs price_data with currency and unit_amount, and a quantity";
        total = sum.ok_or_else(|| CallFailure::invalid("line_items", wrong))?;
        let of_item = text("/price_data/currency").map(str::to_lowercase);
        let of_item = of_item.ok_or_else(|| CallFailure::invalid("line_items", wrong))?;
        if currency.get_or_insert_with(|| of_item.clone()) != &of_item {
            let message = "all line items must have the same currency";
            return Err(CallFailure::invalid("line_items", message).into());
        }
        names.extend(text("/price_data/product_data/name").map(str::to_owned));
    }
    Ok(Bought { amount: total, currency: json!(currency), names })
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
    let customer = session.object["customer"].as_str().map(str::to_owned);
    let fields = if session.object["mode"] == "setup" {
        let setup = setups::new(context, customer.as_deref(), Some(&method));
        let setup = setups::kept(context, setup, method);
        json!({"setup_intent": setup.id})
    } else {
        let currency = session.object["currency"].as_str().unwrap_or_default().to_owned();
        let amount = session.object["amount_total"].as_i64().unwrap_or(0);
        let intent = intents::new(context, amount, &currency, customer.as_deref(), Some(&method));
        let metadata = json!({"metadata": session.hidden["metadata"]});
        let intent = context.change(intent, metadata);
        emit(context, "payment_intent.created", &intent);
        let intent = intents::charged(context, intent, &method)?;
        json!({"payment_intent": intent.id, "payment_status": "paid"})
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

/// Where somebody goes who paid, or who does not.
pub(super) fn back(session: &StoredObject, has_decided: bool) -> Option<String> {
    let is_paid = has_decided && session.state.as_deref() != Some("expired");
    let field = if is_paid { "success_url" } else { "cancel_url" };
    let url = session.object[field].as_str()?;
    Some(url.replace(SESSION_ID, &session.id))
}
