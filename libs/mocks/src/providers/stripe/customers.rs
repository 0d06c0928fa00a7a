//! Customers.

use serde_json::{Value, json};

use super::{
    cards, renewals,
    wire::{emit, emit_change, new_metadata, shown},
};
use crate::{MockReply, StoredObject, context::CallContext, failure::Halt};

/// Fields that a call sets as they are.
const FIELDS: [&str; 7] =
    ["name", "email", "phone", "description", "address", "shipping", "preferred_locales"];

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let method = cards::of_call(context)?;
    let default = default_method(context, method.as_ref())?;
    let mut fields = context.given(&FIELDS);
    fields["metadata"] = context.map("metadata");
    let mut customer = made(context, &fields);
    for method in method.iter().chain(&default) {
        context.change(method.clone(), json!({"customer": customer.id}));
    }
    if let Some(default) = default {
        let settings = with_default(&customer, &default);
        customer = context.change(customer, settings);
    }
    emit(context, "customer.created", &customer);
    shown(context, customer.object)
}

/// The method that a customer is to pay with; the one that the call attaches, where both name one card.
fn default_method(
    context: &mut CallContext<'_>,
    attached: Option<&StoredObject>,
) -> Result<Option<StoredObject>, Halt> {
    let Some(id) = context.text("invoice_settings.default_payment_method") else { return Ok(None) };
    match attached {
        Some(method) if context.text("payment_method").as_ref() == Some(&id) => {
            Ok(Some(method.clone()))
        }
        _ => cards::named(context, &id).map(Some),
    }
}

fn with_default(customer: &StoredObject, method: &StoredObject) -> Value {
    let mut settings = customer.object["invoice_settings"].clone();
    settings["default_payment_method"] = json!(method.id);
    json!({"invoice_settings": settings})
}

/// A new customer, of whom nobody is told yet.
pub(super) fn made(context: &mut CallContext<'_>, fields: &Value) -> StoredObject {
    let id = context.id("customers");
    let object = json!({
        "id": id,
        "object": "customer",
        "address": null,
        "balance": 0,
        "created": context.seconds(),
        "currency": null,
        "default_source": null,
        "delinquent": false,
        "description": null,
        "discount": null,
        "email": null,
        "invoice_prefix": context.chance.letters(8, b"0123456789ABCDEF"),
        "invoice_settings": {
            "custom_fields": null, "default_payment_method": null, "footer": null,
            "rendering_options": null,
        },
        "livemode": false,
        "metadata": {},
        "name": null,
        "next_invoice_sequence": 1,
        "phone": null,
        "preferred_locales": [],
        "shipping": null,
        "tax_exempt": "none",
        "test_clock": null,
    });
    let customer = context.create("customers", &id, object);
    context.change(customer, fields.clone())
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let customer = context.of_path("customers")?;
    shown(context, customer.object)
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let customer = context.of_path("customers")?;
    let mut fields = context.given(&FIELDS);
    new_metadata(context, &customer.object, &mut fields);
    if let Some(method) = default_method(context, None)? {
        fields["invoice_settings"] = with_default(&customer, &method)["invoice_settings"].clone();
        context.change(method, json!({"customer": customer.id}));
    }
    let before = customer.object.clone();
    let customer = context.change(customer, fields);
    emit_change(context, "customer.updated", &customer, &before);
    shown(context, customer.object)
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let customer = context.of_path("customers")?;
    for subscription in renewals::running(context, &customer.id)? {
        renewals::ended(context, subscription, "canceled");
    }
    context.remove(&customer);
    emit(context, "customer.deleted", &customer);
    let gone = json!({"id": customer.id, "object": "customer", "deleted": true});
    Ok(MockReply::ok(&gone))
}
