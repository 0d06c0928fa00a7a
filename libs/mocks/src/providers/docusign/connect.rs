//! Connect: addresses that the app registers.

use serde_json::{Value, json};

use super::wire::{EVENTS, check_account, of_path, texts};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Addresses of one mock.
const MAX_ENDPOINTS: usize = 16;
const FIELDS: [&str; 6] =
    ["name", "urlToPublishTo", "events", "envelopeEvents", "recipientEvents", "allUsers"];

/// The events that a configuration wants, in the names that are sent.
fn events(object: &Value) -> Vec<String> {
    let list = |field: &str| {
        let texts = object[field].as_array().cloned().unwrap_or_default();
        texts.into_iter().filter_map(|text| text.as_str().map(str::to_owned))
    };
    let with =
        |prefix: &'static str| move |code: String| format!("{prefix}-{}", code.to_lowercase());
    list("events")
        .chain(list("envelopeEvents").map(with("envelope")))
        .chain(list("recipientEvents").map(with("recipient")))
        .collect()
}

/// The configuration with where and what is sent to it.
fn kept(context: &mut CallContext<'_>, mut stored: StoredObject) -> Result<StoredObject, Halt> {
    let url = stored.object["urlToPublishTo"].as_str().unwrap_or_default().to_owned();
    if !url.starts_with("http://") && !url.starts_with("https://") {
        let message = "must be an http or https address";
        return Err(CallFailure::invalid("urlToPublishTo", message).into());
    }
    let events = events(&stored.object);
    if !events.iter().all(|event| EVENTS.contains(&event.as_str())) {
        let message = format!("the events are {}", EVENTS.join(", "));
        return Err(CallFailure::invalid("events", message).into());
    }
    stored.hidden = json!({"url": url, "events": events});
    Ok(context.put(stored))
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    check_account(context)?;
    context.need("urlToPublishTo")?;
    if context.list("connect")?.len() >= MAX_ENDPOINTS {
        let message = format!("there are {MAX_ENDPOINTS} configurations already");
        return Err(CallFailure::invalid("urlToPublishTo", message).into());
    }
    let id = context.number("connect")?.to_string();
    let mut object = texts(context.given(&FIELDS));
    for (name, value) in [
        ("connectId", id.as_str()),
        ("allowEnvelopePublish", "true"),
        ("configurationType", "custom"),
        ("deliveryMode", "SIM"),
        ("includeHMAC", "true"),
        ("enableLog", "false"),
    ] {
        object[name] = json!(value);
    }
    let stored = context.create("connect", &id, object);
    let stored = kept(context, stored)?;
    Ok(MockReply::json(201, &stored.object))
}

fn answered(configurations: &[Value]) -> MockReply {
    let total = configurations.len().to_string();
    MockReply::ok(&json!({"configurations": configurations, "totalRecords": total}))
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    check_account(context)?;
    let all: Vec<_> = context.list("connect")?.into_iter().map(|it| it.object).collect();
    Ok(answered(&all))
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let stored = of_path(context, "connect")?;
    Ok(answered(&[stored.object]))
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    check_account(context)?;
    let id = context.need("connectId")?;
    let stored = context.get("connect", &id, "connectId")?;
    let fields = texts(context.given(&FIELDS));
    let stored = context.change(stored, fields);
    let stored = kept(context, stored)?;
    Ok(MockReply::ok(&stored.object))
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let stored = of_path(context, "connect")?;
    context.remove(&stored);
    Ok(MockReply::ok(&json!({})))
}
