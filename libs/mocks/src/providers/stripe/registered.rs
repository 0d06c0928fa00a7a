//! Addresses that the app registers for webhooks, and events.

use serde_json::json;

use super::wire::shown;
use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Addresses of one mock.
const MAX_ENDPOINTS: usize = 16;

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let url = web_address(context, "url")?;
    let events = context.field("enabled_events").cloned();
    let events = events.filter(serde_json::Value::is_array);
    let events = events.ok_or_else(|| CallFailure::missing("enabled_events"))?;
    if context.list("endpoints")?.len() >= MAX_ENDPOINTS {
        let message =
            format!("You have reached the maximum of {MAX_ENDPOINTS} test webhook endpoints.");
        return Err(CallFailure::invalid("", message).into());
    }
    let id = context.id("endpoints");
    let secret = format!("whsec_{}", context.chance.base62(32));
    let object = json!({
        "id": id,
        "object": "webhook_endpoint",
        "api_version": context.or_null("api_version"),
        "application": null,
        "created": context.seconds(),
        "description": context.or_null("description"),
        "enabled_events": events,
        "livemode": false,
        "metadata": context.map("metadata"),
        "status": "enabled",
        "url": url,
    });
    let mut endpoint = context.create("endpoints", &id, object);
    endpoint.hidden = json!({"secret": secret});
    let endpoint = context.put(endpoint);
    let mut answer = endpoint.object;
    answer["secret"] = json!(secret);
    Ok(MockReply::ok(&answer))
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let endpoint = context.of_path("endpoints")?;
    shown(context, endpoint.object)
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let endpoint = context.of_path("endpoints")?;
    let mut fields = context.given(&["enabled_events", "description"]);
    if context.field("url").is_some() {
        fields["url"] = json!(web_address(context, "url")?);
    }
    if context.field("disabled").is_some() {
        let status = if context.flag("disabled") { "disabled" } else { "enabled" };
        fields["status"] = json!(status);
    }
    let endpoint = context.change(endpoint, fields);
    shown(context, endpoint.object)
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let endpoint = context.of_path("endpoints")?;
    context.remove(&endpoint);
    let gone = json!({"id": endpoint.id, "object": "webhook_endpoint", "deleted": true});
    Ok(MockReply::ok(&gone))
}

pub(super) fn get_event(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let event = context.of_path("events")?;
    shown(context, event.object)
}

/// A field that is an address of the web: a browser, or a webhook, may go there.
pub(super) fn web_address(context: &CallContext<'_>, field: &str) -> Result<String, Halt> {
    let url = context.need(field)?;
    if url.starts_with("http://") || url.starts_with("https://") {
        return Ok(url);
    }
    let (field, code) = (field.to_owned(), "url_invalid");
    Err(CallFailure::Invalid { field, code, message: "Invalid URL.".to_owned() }.into())
}
