//! Customers.

use serde_json::{Value, json};

use super::{
    cards,
    intents::merged,
    wire::{emit, shown},
};
use crate::{MockReply, context::CallContext, failure::Halt};

/// Fields that a call sets as they are.
const FIELDS: [&str; 7] =
    ["name", "email", "phone", "description", "address", "shipping", "preferred_locales"];

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
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
        "metadata": context.map("metadata"),
        "name": null,
        "next_invoice_sequence": 1,
        "phone": null,
        "preferred_locales": [],
        "shipping": null,
        "tax_exempt": "none",
        "test_clock": null,
    });
    let customer = context.create("customers", &id, object);
    let fields = context.given(&FIELDS);
    let customer = context.change(customer, fields);
    if let Some(method) = cards::of_call(context)? {
        context.change(method, json!({"customer": id}));
    }
    emit(context, "customer.created", &customer);
    shown(context, customer.object)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let customer = context.of_path("customers")?;
    shown(context, customer.object)
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let customer = context.of_path("customers")?;
    let mut fields = context.given(&FIELDS);
    if context.field("metadata").is_some() {
        fields["metadata"] = merged(&customer.object["metadata"], &context.map("metadata"));
    }
    if let Some(method) = context.text("invoice_settings.default_payment_method") {
        let mut settings = customer.object["invoice_settings"].clone();
        settings["default_payment_method"] = Value::String(method);
        fields["invoice_settings"] = settings;
    }
    let customer = context.change(customer, fields);
    emit(context, "customer.updated", &customer);
    shown(context, customer.object)
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let customer = context.of_path("customers")?;
    context.remove(&customer);
    emit(context, "customer.deleted", &customer);
    let gone = json!({"id": customer.id, "object": "customer", "deleted": true});
    Ok(MockReply::ok(&gone))
}
