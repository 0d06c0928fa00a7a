//! Lines of invoices: of a subscription's items, and of items that an app adds by itself.

use serde_json::{Value, json};

use super::{
    billing,
    prices::{self, MAX_AMOUNT, Sold},
    wire::{emit, refused, shown},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Letters of the ids of lines.
const LINE_LETTERS: usize = 24;

/// A period, in seconds since 1970.
#[derive(Clone, Copy)]
pub(super) struct Period {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// A line of a subscription: what an item of it costs in a period.
pub(super) fn of_subscription(
    context: &CallContext<'_>,
    sold: &Sold,
    (subscription, item): (&str, &str),
    period: Period,
    is_trial: bool,
) -> Value {
    let parent = json!({
        "invoice_item_details": null,
        "subscription_item_details": {
            "invoice_item": null, "proration": false, "proration_details": {"credited_items": null},
            "subscription": subscription, "subscription_item": item,
        },
        "type": "subscription_item_details",
    });
    let amount = if is_trial { 0 } else { sold.amount };
    let text = if is_trial { "Trial period for " } else { "" };
    let description = format!("{text}{} × {}", sold.quantity, sold.name);
    line(context, amount, &sold.price, sold.quantity, &description, period, &parent)
}

fn line(
    context: &CallContext<'_>,
    amount: i64,
    price: &Value,
    quantity: i64,
    description: &str,
    period: Period,
    parent: &Value,
) -> Value {
    let details = json!({"price": price["id"], "product": price["product"]});
    let pricing = json!({
        "price_details": details, "type": "price_details",
        "unit_amount_decimal": price["unit_amount_decimal"],
    });
    json!({
        "id": context.chance.id("il_", LINE_LETTERS, context.now), "object": "line_item",
        "amount": amount, "currency": price["currency"], "description": description,
        "discount_amounts": [], "discountable": true, "discounts": [], "invoice": null,
        "livemode": false, "metadata": {}, "parent": parent,
        "period": {"end": period.end, "start": period.start}, "pretax_credit_amounts": [],
        "pricing": if price["id"].is_string() { pricing } else { Value::Null },
        "quantity": quantity, "subtotal": amount, "taxes": [],
    })
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let customer = context.need("customer")?;
    context.get("customers", &customer, "customer")?;
    let sold = sold(context)?;
    let (id, now) = (context.id("items"), context.seconds());
    let description = context.text("description").unwrap_or_else(|| sold.name.clone());
    let object = json!({
        "id": id, "object": "invoiceitem", "amount": sold.amount, "currency": sold.price["currency"],
        "customer": customer, "date": now, "description": description, "discountable": true,
        "discounts": [], "invoice": null, "livemode": false, "metadata": context.map("metadata"),
        "net_amount": sold.amount, "parent": null, "period": {"end": now, "start": now},
        "pricing": line(context, 0, &sold.price, 1, "", Period { start: now, end: now }, &Value::Null)["pricing"],
        "proration": false, "quantity": sold.quantity,
        "quantity_decimal": i64::to_string(&sold.quantity), "tax_rates": [], "test_clock": null,
    });
    let mut item = context.create("items", &id, object);
    item.hidden = json!({"price": sold.price});
    let mut item = context.put(item);
    if let Some(invoice) = context.text("invoice") {
        let invoice = editable(context, &invoice)?;
        item = added(context, invoice, item).1;
    }
    emit(context, "invoiceitem.created", &item);
    shown(context, item.object)
}

/// What an item is for: a price, or an amount alone.
fn sold(context: &mut CallContext<'_>) -> Result<Sold, Halt> {
    let mut item = context.body.clone();
    // The price of an item is in its pricing, since the API of 2025.
    if let Some(price) = context.text("pricing.price") {
        item["price"] = json!(price);
    }
    if item["price"].is_string() || item["price_data"].is_object() {
        let mut sold = prices::sold(context, &[item], "items", false)?;
        return sold.pop().ok_or_else(|| CallFailure::missing("price").into());
    }
    let amount = context.int("amount")?.ok_or_else(|| CallFailure::missing("amount"))?;
    if !(-MAX_AMOUNT..=MAX_AMOUNT).contains(&amount) {
        return Err(refused("amount", "invalid", "The amount is too large."));
    }
    let currency = context.need("currency")?.to_lowercase();
    let price = json!({"currency": currency, "unit_amount_decimal": amount.to_string()});
    Ok(Sold { price, name: String::new(), quantity: 1, amount })
}

/// An invoice to which lines can be added.
fn editable(context: &mut CallContext<'_>, id: &str) -> Result<StoredObject, Halt> {
    let invoice = context.get("invoices", id, "invoice")?;
    if invoice.state.as_deref() == Some("draft") {
        return Ok(invoice);
    }
    let message = "This invoice is no longer editable, as it is not a draft.";
    Err(refused("invoice", "invoice_not_editable", message))
}

/// The invoice with an item as one more line, and the item as one of it.
pub(super) fn added(
    context: &mut CallContext<'_>,
    invoice: StoredObject,
    item: StoredObject,
) -> (StoredObject, StoredObject) {
    let item = context.change(item, json!({"invoice": invoice.id}));
    let (object, price) = (&item.object, &item.hidden["price"]);
    let parent = json!({
        "invoice_item_details": {
            "invoice_item": item.id, "proration": false, "proration_details": null,
            "subscription": null,
        },
        "subscription_item_details": null,
        "type": "invoice_item_details",
    });
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    let (amount, quantity) = (number(&object["amount"]), number(&object["quantity"]));
    let start = number(&object["date"]);
    let text = object["description"].as_str().unwrap_or_default();
    let period = Period { start, end: start };
    let mut line = line(context, amount, price, quantity, text, period, &parent);
    line["invoice"] = json!(invoice.id);
    line["metadata"] = object["metadata"].clone();
    let mut lines = invoice.object["lines"]["data"].as_array().cloned().unwrap_or_default();
    lines.push(line);
    (billing::with_lines(context, invoice, &lines), item)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = context.of_path("items")?;
    shown(context, item.object)
}

/// One that is on an invoice leaves it, as long as that can be changed.
pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let item = context.of_path("items")?;
    if let Some(id) = item.object["invoice"].as_str() {
        let invoice = editable(context, id)?;
        let mut lines = invoice.object["lines"]["data"].as_array().cloned().unwrap_or_default();
        let of = "/parent/invoice_item_details/invoice_item";
        lines.retain(|line| line.pointer(of).and_then(Value::as_str) != Some(item.id.as_str()));
        billing::with_lines(context, invoice, &lines);
    }
    context.remove(&item);
    emit(context, "invoiceitem.deleted", &item);
    let gone = json!({"id": item.id, "object": "invoiceitem", "deleted": true});
    Ok(MockReply::ok(&gone))
}
