//! Prices: what a product costs, once or in each period; and what is sold by them.

use serde_json::{Value, json};

use super::{
    products,
    wire::{emit, emit_change, new_metadata, refused, shown},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// The largest amount, in the currency's smallest unit: of twelve digits.
pub(super) const MAX_AMOUNT: i64 = 999_999_999_999;
/// Units of time that a period has, and the most of each: three years.
const INTERVALS: [(&str, i64); 4] = [("day", 1_095), ("week", 156), ("month", 36), ("year", 3)];
/// Letters of a key by which an app finds a price.
const MAX_LOOKUP_KEY: usize = 200;

/// So many units of a price.
pub(super) struct Sold {
    /// The price as the API shows it.
    pub(super) price: Value,
    /// What its product is called.
    pub(super) name: String,
    pub(super) quantity: i64,
    /// Of all units.
    pub(super) amount: i64,
}

impl Sold {
    /// Whether it is paid in each period.
    pub(super) fn is_recurring(&self) -> bool {
        self.price["type"] == "recurring"
    }
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let given = context.body.clone();
    let product = if let Some(name) = context.text("product_data.name") {
        let (id, metadata) = (context.id("products"), context.map("product_data.metadata"));
        let product = products::made(context, &id, &name, &metadata);
        emit(context, "product.created", &product);
        id
    } else {
        let id = context.need("product")?;
        context.get("products", &id, "product")?.id
    };
    let mut price = of_data(context, &given, "", &product)?;
    price["active"] = json!(context.text("active").is_none() || context.flag("active"));
    if let Some(key) = context.text("lookup_key") {
        claim(context, &key, &price)?;
        price["lookup_key"] = json!(key);
    }
    let price = kept(context, price);
    shown(context, price.object)
}

/// Keeps a new price, and tells of it.
pub(super) fn kept(context: &mut CallContext<'_>, price: Value) -> StoredObject {
    let id = price["id"].as_str().unwrap_or_default().to_owned();
    let price = context.create("prices", &id, price);
    emit(context, "price.created", &price);
    price
}

/// Takes a key for a price, which no other has; `transfer_lookup_key` takes it from another.
fn claim(context: &mut CallContext<'_>, key: &str, price: &Value) -> Result<(), Halt> {
    if key.len() > MAX_LOOKUP_KEY {
        let message = format!("A lookup key has at most {MAX_LOOKUP_KEY} characters.");
        return Err(refused("lookup_key", "invalid", message));
    }
    let id = price["id"].as_str().unwrap_or_default();
    if let Some(owner) = context.row("~lookup", key)?.filter(|owner| owner != id) {
        if !context.flag("transfer_lookup_key") {
            let message = format!("A price (`{owner}`) already uses that lookup key.");
            return Err(refused("lookup_key", "resource_already_exists", message));
        }
        if let Some(other) = context.find("prices", &owner)? {
            context.change(other, json!({"lookup_key": null}));
        }
    }
    context.write_row("~lookup", key, Some(id.to_owned()));
    Ok(())
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let price = context.of_path("prices")?;
    shown(context, price.object)
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let price = context.of_path("prices")?;
    let mut fields = context.given(&["nickname", "tax_behavior"]);
    new_metadata(context, &price.object, &mut fields);
    if context.text("active").is_some() {
        fields["active"] = json!(context.flag("active"));
    }
    if let Some(key) = context.text("lookup_key") {
        claim(context, &key, &price.object)?;
        if let Some(before) = price.object["lookup_key"].as_str().filter(|before| *before != key) {
            context.row("~lookup", before)?;
            context.write_row("~lookup", before, None);
        }
        fields["lookup_key"] = json!(key);
    }
    let before = price.object.clone();
    let price = context.change(price, fields);
    emit_change(context, "price.updated", &price, &before);
    shown(context, price.object)
}

/// The price that a call describes, of a product. `field` is where it does, with dots.
pub(super) fn of_data(
    context: &CallContext<'_>,
    data: &Value,
    field: &str,
    product: &str,
) -> Result<Value, Halt> {
    let at =
        |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
    let text = |name: &str| data[name].as_str().filter(|text| !text.is_empty());
    let currency = text("currency").ok_or_else(|| CallFailure::missing(&at("currency")))?;
    let amount = text("unit_amount").or_else(|| text("unit_amount_decimal"));
    let amount = amount.ok_or_else(|| CallFailure::missing(&at("unit_amount")))?;
    let amount = amount.parse().ok().filter(|amount| (0..=MAX_AMOUNT).contains(amount));
    let message = format!("Invalid integer: it must be from 0 to {MAX_AMOUNT}");
    let amount = amount.ok_or_else(|| CallFailure::invalid(&at("unit_amount"), message))?;
    if text("billing_scheme").is_some_and(|scheme| scheme != "per_unit") {
        return Err(refused(&at("billing_scheme"), "invalid", "Only per_unit is there."));
    }
    let recurring = recurring(&data["recurring"], &at("recurring"))?;
    let object = json!({
        "id": context.id("prices"), "object": "price", "active": true,
        "billing_scheme": "per_unit", "created": context.seconds(),
        "currency": currency.to_lowercase(), "custom_unit_amount": null, "livemode": false,
        "lookup_key": null, "metadata": data.get("metadata").cloned().unwrap_or(json!({})),
        "nickname": text("nickname"), "product": product, "recurring": recurring,
        "tax_behavior": text("tax_behavior").unwrap_or("unspecified"), "tiers_mode": null,
        "transform_quantity": null,
        "type": if recurring.is_null() { "one_time" } else { "recurring" },
        "unit_amount": amount, "unit_amount_decimal": i64::to_string(&amount),
    });
    Ok(object)
}

/// How often a price is paid; null for once.
fn recurring(given: &Value, field: &str) -> Result<Value, Halt> {
    if given.is_null() {
        return Ok(Value::Null);
    }
    let interval = given["interval"].as_str().unwrap_or_default();
    let known = INTERVALS.iter().find(|(name, _)| *name == interval);
    let message = "Invalid interval: must be one of day, month, week, or year";
    let (_, most) =
        known.ok_or_else(|| CallFailure::invalid(&format!("{field}.interval"), message))?;
    let count = given["interval_count"].as_str().map_or(Some(1), |count| count.parse().ok());
    let count = count.filter(|count| (1..=*most).contains(count));
    let message = format!("must be from 1 to {most}: an interval has at most three years");
    let wrong = || CallFailure::invalid(&format!("{field}.interval_count"), message);
    let count: i64 = count.ok_or_else(wrong)?;
    if given["usage_type"].as_str().is_some_and(|kind| kind != "licensed") {
        return Err(refused(&format!("{field}.usage_type"), "invalid", "Only licensed is there."));
    }
    Ok(json!({
        "interval": interval, "interval_count": count, "meter": null, "trial_period_days": null,
        "usage_type": "licensed",
    }))
}

/// What items of a call mean: each has `price` or `price_data`, and maybe `quantity`. Prices that are described, and
/// their products, are kept where `keeps`.
pub(super) fn sold(
    context: &mut CallContext<'_>,
    items: &[Value],
    field: &str,
    keeps: bool,
) -> Result<Vec<Sold>, Halt> {
    let ids = |name: &str| {
        let of_item = |item: &Value| item.pointer(name).and_then(Value::as_str).map(str::to_owned);
        items.iter().filter_map(of_item).collect::<Vec<_>>()
    };
    let described = context.need_rows("products", ids("/price_data/product"));
    context.need_rows("prices", ids("/price"))?;
    described?;
    let mut products = Vec::new();
    for id in ids("/price") {
        let price = context.find("prices", &id)?;
        products.extend(price.and_then(|it| it.object["product"].as_str().map(str::to_owned)));
    }
    context.need_rows("products", products)?;
    let numbered = items.iter().enumerate();
    numbered.map(|(at, item)| one(context, item, &format!("{field}.{at}"), keeps)).collect()
}

fn one(
    context: &mut CallContext<'_>,
    item: &Value,
    field: &str,
    keeps: bool,
) -> Result<Sold, Halt> {
    let (price, name) = if let Some(id) = item["price"].as_str() {
        let price = context.get("prices", id, "price")?.object;
        if price["active"] == false {
            let message = "The price specified is inactive. This field only accepts active prices.";
            return Err(refused(&format!("{field}.price"), "invalid", message));
        }
        let product = price["product"].as_str().unwrap_or_default();
        let product = context.find("products", product)?;
        (price, product.and_then(|it| it.object["name"].as_str().map(str::to_owned)))
    } else {
        described(context, item, field, keeps)?
    };
    let quantity = item["quantity"].as_str().map_or(Some(1), |text| text.parse::<i64>().ok());
    let quantity = quantity.filter(|quantity| *quantity >= 0);
    let wrong = || CallFailure::invalid(&format!("{field}.quantity"), "Invalid integer");
    let quantity = quantity.ok_or_else(wrong)?;
    let amount = price["unit_amount"].as_i64().and_then(|amount| amount.checked_mul(quantity));
    let amount = amount.filter(|amount| *amount <= MAX_AMOUNT);
    let wrong = || CallFailure::invalid(field, "The amount is too large.");
    let amount = amount.ok_or_else(wrong)?;
    Ok(Sold { price, name: name.unwrap_or_default(), quantity, amount })
}

/// The price that an item describes, and what its product is called.
fn described(
    context: &mut CallContext<'_>,
    item: &Value,
    field: &str,
    keeps: bool,
) -> Result<(Value, Option<String>), Halt> {
    let data = &item["price_data"];
    if !data.is_object() {
        return Err(CallFailure::missing(&format!("{field}.price")).into());
    }
    let (product, name) = if let Some(id) = data["product"].as_str() {
        let product = context.get("products", id, "product")?;
        (product.id, product.object["name"].as_str().map(str::to_owned))
    } else {
        let name = data.pointer("/product_data/name").and_then(Value::as_str);
        let missing = || CallFailure::missing(&format!("{field}.price_data.product_data.name"));
        (context.id("products"), Some(name.ok_or_else(missing)?.to_owned()))
    };
    let mut price = of_data(context, data, &format!("{field}.price_data"), &product)?;
    price["active"] = json!(false);
    if keeps {
        if let (None, Some(name)) = (data["product"].as_str(), &name) {
            let product = products::made(context, &product, name, &json!({}));
            emit(context, "product.created", &product);
        }
        kept(context, price.clone());
    }
    Ok((price, name))
}

/// What all of it costs, and in which currency; in one only.
pub(super) fn total(sold: &[Sold], field: &str) -> Result<(i64, String), Halt> {
    let currency = sold.first().and_then(|it| it.price["currency"].as_str()).unwrap_or_default();
    if sold.iter().any(|it| it.price["currency"] != currency) {
        return Err(refused(field, "invalid", "All items must have the same currency."));
    }
    let sum = sold.iter().try_fold(0_i64, |sum, it| sum.checked_add(it.amount));
    match sum.filter(|sum| *sum <= MAX_AMOUNT) {
        Some(sum) => Ok((sum, currency.to_owned())),
        None => Err(refused(field, "invalid", "The amount is too large.")),
    }
}
