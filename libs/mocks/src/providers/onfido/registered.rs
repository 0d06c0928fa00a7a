//! Addresses that the app registers for webhooks, each with a token of its own.

use serde_json::{Value, json};

use super::wire::{BASE, EVENTS, tell};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Addresses of one mock.
const MAX_ENDPOINTS: usize = 16;
/// Events that are sent again in one call.
const MAX_RESENT: usize = 20;

fn check(context: &CallContext<'_>) -> Result<(), Halt> {
    if let Some(url) = context.text("url")
        && !url.starts_with("http://")
        && !url.starts_with("https://")
    {
        return Err(CallFailure::invalid("url", "is not a valid URL").into());
    }
    let events = context.field("events").and_then(Value::as_array);
    let is_known = |event: &Value| event.as_str().is_some_and(|event| EVENTS.contains(&event));
    if events.is_some_and(|events| !events.iter().all(is_known)) {
        let message = format!("must be some of {}", EVENTS.join(", "));
        return Err(CallFailure::invalid("events", message).into());
    }
    Ok(())
}

/// An address as it is answered, with its token.
fn shown(context: &mut CallContext<'_>, webhook: &StoredObject) -> Value {
    let mut object = webhook.object.clone();
    object["token"] = webhook.hidden["secret"].clone();
    context.secrets.extend(webhook.hidden["secret"].as_str().map(str::to_owned));
    object
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let url = context.need("url")?;
    check(context)?;
    if context.list("webhooks")?.len() >= MAX_ENDPOINTS {
        let message = format!("there are {MAX_ENDPOINTS} webhooks already");
        return Err(CallFailure::invalid("url", message).into());
    }
    let id = context.uuid();
    let given = |name: &str, usual: Value| context.field(name).cloned().unwrap_or(usual);
    let object = json!({
        "id": id, "url": url, "href": format!("{BASE}/webhooks/{id}"),
        "enabled": given("enabled", json!(true)), "events": given("events", json!(EVENTS)),
        "environments": given("environments", json!(["sandbox", "live"])),
        "payload_version": given("payload_version", json!(3)),
    });
    let secret = context.chance.base62(32);
    let mut webhook = context.create("webhooks", &id, object);
    webhook.hidden = json!({"secret": secret});
    let webhook = context.put(webhook);
    Ok(MockReply::json(201, &shown(context, &webhook)))
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let found = context.list("webhooks")?;
    let webhooks: Vec<_> = found.iter().map(|webhook| shown(context, webhook)).collect();
    Ok(MockReply::ok(&json!({"webhooks": webhooks})))
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let webhook = context.of_path("webhooks")?;
    Ok(MockReply::ok(&shown(context, &webhook)))
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let webhook = context.of_path("webhooks")?;
    check(context)?;
    let fields = context.given(&["url", "enabled", "events", "environments", "payload_version"]);
    let webhook = context.change(webhook, fields);
    Ok(MockReply::ok(&shown(context, &webhook)))
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let webhook = context.of_path("webhooks")?;
    context.remove(&webhook);
    Ok(MockReply::empty(204))
}

/// Tells once more what became of checks, reports and runs.
pub(super) fn resend(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let data = context.field("data").and_then(Value::as_array).cloned();
    let data = data.ok_or_else(|| CallFailure::missing("data"))?;
    if data.len() > MAX_RESENT {
        let message = format!("must have at most {MAX_RESENT} entries");
        return Err(CallFailure::invalid("data", message).into());
    }
    for wanted in &data {
        let event = EVENTS.iter().find(|event| wanted["event"] == **event);
        let event =
            event.ok_or_else(|| CallFailure::invalid("event", "is not included in the list"))?;
        let kind = match event.split('.').next() {
            Some("check") => "checks",
            Some("report") => "reports",
            _ => "workflow_runs",
        };
        let id = wanted["resource_id"].as_str().unwrap_or_default();
        let object = context.get(kind, id, "resource_id")?;
        let state = object.state.clone().unwrap_or_default();
        tell(context, event, &object.id, &state);
    }
    Ok(MockReply::empty(204))
}
