//! Setup intents: a card is kept for later.

use serde_json::{Value, json};

use super::{
    cards,
    wire::{emit, shown},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const OPEN: [&str; 3] = ["requires_payment_method", "requires_confirmation", "requires_action"];

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let customer = context.text("customer");
    if let Some(customer) = &customer {
        context.get("customers", customer, "customer")?;
    }
    let method = cards::of_call(context)?;
    let setup = new(context, customer.as_deref(), method.as_ref());
    if context.flag("confirm") {
        return confirmed(context, setup, method);
    }
    shown(context, setup.object)
}

/// A setup that nobody has confirmed yet.
pub(super) fn new(
    context: &mut CallContext<'_>,
    customer: Option<&str>,
    method: Option<&StoredObject>,
) -> StoredObject {
    let id = context.id("setups");
    let status = if method.is_some() { "requires_confirmation" } else { "requires_payment_method" };
    let object = json!({
        "id": id,
        "object": "setup_intent",
        "application": null,
        "automatic_payment_methods": null,
        "cancellation_reason": null,
        "client_secret": format!("{id}_secret_{}", context.chance.base62(25)),
        "created": context.seconds(),
        "customer": customer,
        "description": context.or_null("description"),
        "flow_directions": null,
        "last_setup_error": null,
        "latest_attempt": null,
        "livemode": false,
        "mandate": null,
        "metadata": context.map("metadata"),
        "next_action": null,
        "on_behalf_of": null,
        "payment_method": method.map(|method| method.id.clone()),
        "payment_method_configuration_details": null,
        "payment_method_options": {},
        "payment_method_types": ["card"],
        "single_use_mandate": null,
        "status": status,
        "usage": context.text("usage").unwrap_or_else(|| "off_session".to_owned()),
    });
    context.create("setups", &id, object)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let setup = context.of_path("setups")?;
    shown(context, setup.object)
}

pub(super) fn confirm(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let setup = context.of_path("setups")?;
    let method = cards::of_call_or(context, &setup)?;
    confirmed(context, setup, method)
}

fn confirmed(
    context: &mut CallContext<'_>,
    setup: StoredObject,
    method: Option<StoredObject>,
) -> Result<MockReply, Halt> {
    require_open(&setup)?;
    let Some(method) = method else { return Err(CallFailure::missing("payment_method").into()) };
    if let Some(decline) = context.declined(&[&cards::trigger(&method)]) {
        let details = json!({"setup_intent": setup.object, "payment_method": method.object});
        return Err(CallFailure::Declined(decline, details).into());
    }
    if cards::needs_action(&method) {
        let mut setup = setup;
        let action = cards::next_action(context, &mut setup)?;
        let fields = json!({
            "status": "requires_action", "next_action": action, "payment_method": method.id,
        });
        let setup = context.change(setup, fields);
        return shown(context, setup.object);
    }
    let setup = kept(context, setup, method);
    shown(context, setup.object)
}

/// Keeps the card, for the customer if there is one.
pub(super) fn kept(
    context: &mut CallContext<'_>,
    setup: StoredObject,
    method: StoredObject,
) -> StoredObject {
    let fields = json!({"status": "succeeded", "next_action": null, "payment_method": method.id});
    let setup = context.change(setup, fields);
    if let Value::String(customer) = &setup.object["customer"] {
        context.change(method, json!({"customer": customer}));
    }
    emit(context, "setup_intent.succeeded", &setup);
    setup
}

/// The owner of the card did not confirm it.
pub(super) fn unauthenticated(context: &mut CallContext<'_>, setup: StoredObject) -> StoredObject {
    let fields = json!({
        "status": "requires_payment_method",
        "payment_method": null,
        "next_action": null,
        "last_setup_error": cards::not_authenticated("setup_intent_authentication_failure"),
    });
    let setup = context.change(setup, fields);
    emit(context, "setup_intent.setup_failed", &setup);
    setup
}

pub(super) fn cancel(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let setup = context.of_path("setups")?;
    require_open(&setup)?;
    let setup = context.change(setup, json!({"status": "canceled", "next_action": null}));
    shown(context, setup.object)
}

fn require_open(setup: &StoredObject) -> Result<(), Halt> {
    let state = setup.state.as_deref().unwrap_or_default();
    if OPEN.contains(&state) {
        return Ok(());
    }
    let message = format!("You cannot use this SetupIntent because it has a status of {state}.");
    let code = "setup_intent_unexpected_state";
    Err(CallFailure::Invalid { field: String::new(), code, message }.into())
}
