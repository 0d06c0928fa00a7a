//! Products: what is sold.

use serde_json::{Value, json};

use super::{
    prices,
    wire::{emit, emit_change, new_metadata, refused, shown},
};
use crate::{MockReply, StoredObject, context::CallContext, failure::Halt};

/// Fields that a call sets as they are.
const FIELDS: [&str; 9] = [
    "name",
    "description",
    "images",
    "marketing_features",
    "package_dimensions",
    "statement_descriptor",
    "tax_code",
    "unit_label",
    "url",
];
/// Letters of an id that the app gives.
const MAX_ID: usize = 255;

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (id, name) = (new_id(context)?, context.need("name")?);
    let mut product = made(context, &id, &name, &context.map("metadata"));
    let mut fields = given(context);
    if let Some(data) = context.field("default_price_data").cloned() {
        let price = prices::of_data(context, &data, "default_price_data", &id)?;
        let price = prices::kept(context, price);
        fields["default_price"] = json!(price.id);
    }
    product = context.change(product, fields);
    emit(context, "product.created", &product);
    shown(context, product.object)
}

/// The id that the app gives, which is no other's, or a new one.
fn new_id(context: &mut CallContext<'_>) -> Result<String, Halt> {
    let Some(id) = context.text("id") else { return Ok(context.id("products")) };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if id.len() > MAX_ID || !id.bytes().all(plain) {
        return Err(refused("id", "invalid", "An id has letters, digits, _ and -."));
    }
    if context.find("products", &id)?.is_some() {
        return Err(refused("id", "resource_already_exists", "Product already exists."));
    }
    Ok(id)
}

/// A product with nothing but a name.
pub(super) fn made(
    context: &mut CallContext<'_>,
    id: &str,
    name: &str,
    metadata: &Value,
) -> StoredObject {
    let now = context.seconds();
    let object = json!({
        "id": id, "object": "product", "active": true, "created": now, "default_price": null,
        "description": null, "images": [], "livemode": false, "marketing_features": [],
        "metadata": metadata, "name": name, "package_dimensions": null, "shippable": null,
        "statement_descriptor": null, "tax_code": null, "type": "service", "unit_label": null,
        "updated": now, "url": null,
    });
    context.create("products", id, object)
}

/// The fields of the call; flags are no texts.
fn given(context: &CallContext<'_>) -> Value {
    let mut fields = context.given(&FIELDS);
    for name in ["active", "shippable"] {
        if context.text(name).is_some() {
            fields[name] = json!(context.flag(name));
        }
    }
    fields
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let product = context.of_path("products")?;
    shown(context, product.object)
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let product = context.of_path("products")?;
    let mut fields = given(context);
    new_metadata(context, &product.object, &mut fields);
    if let Some(price) = context.text("default_price") {
        context.get("prices", &price, "default_price")?;
        fields["default_price"] = json!(price);
    }
    let before = product.object.clone();
    fields["updated"] = json!(context.seconds());
    let product = context.change(product, fields);
    emit_change(context, "product.updated", &product, &before);
    shown(context, product.object)
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let product = context.of_path("products")?;
    if context.list("prices")?.iter().any(|price| price.object["product"] == product.id.as_str()) {
        let message = "This product cannot be deleted because it has one or more prices.";
        return Err(refused("id", "invalid", message));
    }
    context.remove(&product);
    emit(context, "product.deleted", &product);
    let gone = json!({"id": product.id, "object": "product", "deleted": true});
    Ok(MockReply::ok(&gone))
}
