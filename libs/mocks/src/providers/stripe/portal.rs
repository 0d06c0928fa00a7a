//! The customer portal: a page on which somebody ends a subscription.

use serde_json::json;

use super::{
    registered::web_address,
    renewals::{changed, running},
    subscriptions::cancelling,
    wire::shown,
};
use crate::{MockReply, StoredObject, context::CallContext, failure::Halt, flow::PageText};

/// Stands for the settings of the portal, which a mock has but one of.
const CONFIGURATION: &str = "bpc_1TraplineDefaultPortal00";

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let customer = context.need("customer")?;
    context.get("customers", &customer, "customer")?;
    let has_return = context.text("return_url").is_some();
    let back = has_return.then(|| web_address(context, "return_url")).transpose()?;
    let id = context.id("portals");
    let object = json!({
        "id": id, "object": "billing_portal.session", "configuration": CONFIGURATION,
        "created": context.seconds(), "customer": customer, "flow": null, "livemode": false,
        "locale": context.or_null("locale"), "on_behalf_of": null, "return_url": back,
        "url": context.page_url("portals", &id),
    });
    let mut portal = context.create("portals", &id, object);
    // The provider does not show it.
    portal.state = Some("open".to_owned());
    let portal = context.put(portal);
    shown(context, portal.object)
}

/// Ends the subscriptions of the customer with their periods.
pub(super) fn take(
    context: &mut CallContext<'_>,
    mut portal: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    let customer = portal.object["customer"].as_str().unwrap_or_default().to_owned();
    for subscription in running(context, &customer)? {
        let fields = cancelling(context.seconds(), true);
        changed(context, subscription, fields);
    }
    portal.state = Some(to.to_owned());
    Ok(context.put(portal))
}

pub(super) fn show(portal: &StoredObject) -> PageText {
    let customer = portal.object["customer"].as_str().unwrap_or_default().to_owned();
    let state = portal.state.clone().unwrap_or_default();
    PageText {
        title: "Your plan".to_owned(),
        lines: vec![("Customer", customer), ("Status", state)],
    }
}

/// Back to the app, whatever was decided.
pub(super) fn back(portal: &StoredObject, _: bool) -> Option<String> {
    portal.object["return_url"].as_str().map(str::to_owned)
}
