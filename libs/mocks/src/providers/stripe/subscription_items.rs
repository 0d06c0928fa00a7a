//! The items of a subscription: what is paid for in each period.

use serde_json::{Value, json};

use super::{
    invoice_items::Period,
    prices::{self, Sold},
    wire::refused,
};
use crate::{
    StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Items of one subscription.
const MAX_ITEMS: usize = 20;
/// Letters of an item's id.
const ITEM_LETTERS: usize = 14;

/// The items that a call gives.
pub(super) fn given_items(context: &CallContext<'_>) -> Result<Vec<Value>, Halt> {
    let items = context.field("items").and_then(Value::as_array).cloned().unwrap_or_default();
    match items.len() {
        0 => Err(CallFailure::missing("items").into()),
        1..=MAX_ITEMS => Ok(items),
        _ => Err(wrong_number()),
    }
}

fn wrong_number() -> Halt {
    refused("items", "invalid", format!("A subscription has from 1 to {MAX_ITEMS} items."))
}

/// A new item of a subscription.
pub(super) fn item(
    context: &CallContext<'_>,
    sold: &Sold,
    subscription: &str,
    period: Period,
) -> Value {
    json!({
        "id": context.chance.id("si_", ITEM_LETTERS, context.now), "object": "subscription_item",
        "billing_thresholds": null, "created": context.seconds(),
        "current_period_end": period.end, "current_period_start": period.start, "discounts": [],
        "metadata": {}, "price": sold.price, "quantity": sold.quantity,
        "subscription": subscription, "tax_rates": [],
    })
}

/// The items as a call changes them: those with an id, and new ones. They count from the next invoice on.
pub(super) fn changed(
    context: &mut CallContext<'_>,
    subscription: &mut StoredObject,
) -> Result<Value, Halt> {
    let given = given_items(context)?;
    let mut list = subscription.object["items"].clone();
    let mut items = list["data"].as_array().cloned().unwrap_or_default();
    for id in given.iter().filter_map(|item| item["id"].as_str()) {
        if !items.iter().any(|item| item["id"] == id) {
            let (kind, id) = ("subscription_items", id.to_owned());
            return Err(CallFailure::NotFound { kind, id, field: "items" }.into());
        }
    }
    let (gone, given): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|item| item["deleted"] == "true");
    items.retain(|item| !gone.iter().any(|gone| gone["id"] == item["id"]));
    let given: Vec<_> = given.iter().map(|change| completed(change, &items)).collect();
    let sold = prices::sold(context, &given, "items", true)?;
    let period = period_of(subscription);
    for (change, sold) in given.iter().zip(&sold) {
        if !sold.is_recurring() {
            return Err(refused("items", "invalid", "The price must be a recurring one."));
        }
        let mut item = item(context, sold, &subscription.id, period);
        let known = items.iter().position(|known| known["id"] == change["id"]);
        if let Some(known) = known {
            for name in ["id", "created", "metadata"] {
                item[name] = items[known][name].clone();
            }
        }
        let id = item["id"].as_str().unwrap_or_default().to_owned();
        subscription.hidden["names"][id] = json!(sold.name);
        match known {
            Some(known) => items[known] = item,
            None => items.push(item),
        }
    }
    if !(1..=MAX_ITEMS).contains(&items.len()) {
        return Err(wrong_number());
    }
    list["data"] = json!(items);
    Ok(list)
}

/// A change of an item, with what it leaves as it was.
fn completed(change: &Value, items: &[Value]) -> Value {
    let mut change = change.clone();
    let known = items.iter().find(|item| change["id"].is_string() && item["id"] == change["id"]);
    let Some(known) = known else { return change };
    if change["price"].is_null() && change["price_data"].is_null() {
        change["price"] = known["price"]["id"].clone();
    }
    if change["quantity"].is_null() {
        change["quantity"] = json!(known["quantity"].to_string());
    }
    change
}

/// The period that a subscription is in.
pub(super) fn period_of(subscription: &StoredObject) -> Period {
    let item = &subscription.object["items"]["data"][0];
    let at = |name: &str| item[name].as_i64().unwrap_or(0);
    Period { start: at("current_period_start"), end: at("current_period_end") }
}
