//! Webhooks that the app registers, each with a secret of its own.

use std::time::Duration;

use serde_json::{Value, json};
use trapline_model::Time;

use super::tables::{base_of, id_of};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Webhooks of one mock.
const MAX_WEBHOOKS: usize = 10;
/// How long one holds that is not refreshed.
const HELD: Duration = Duration::from_hours(7 * 24);
/// Letters of base62 that are base64 of 36 bytes.
const SECRET_LETTERS: usize = 48;

/// The webhooks of a base that hold, the oldest first; the mock's own is first, where it has an address.
pub(super) fn of_base(
    context: &mut CallContext<'_>,
    base: &str,
) -> Result<Vec<StoredObject>, Halt> {
    let mut found = context.list("webhooks")?;
    found.retain(|webhook| webhook.hidden["base"] == *base);
    found.retain(|webhook| time(&webhook.object["expirationTime"]) > Some(context.now));
    found.extend(own(context, base));
    found.reverse();
    Ok(found)
}

fn time(value: &Value) -> Option<Time> {
    value.as_str()?.parse().ok()
}

/// What stands for the mock's own address.
fn own(context: &CallContext<'_>, base: &str) -> Option<StoredObject> {
    let url = context.mock.webhook_url?;
    let id = id_of(context, "ach", &[base]);
    let options = json!({"filters": {"dataTypes": ["tableData"]}});
    let object = json!({
        "id": id,
        "areNotificationsEnabled": true,
        "cursorForNextPayload": 1,
        "isHookEnabled": true,
        "lastNotificationResult": null,
        "lastSuccessfulNotificationTime": null,
        "notificationUrl": url,
        "expirationTime": null,
        "specification": {"options": options},
    });
    let (kind, at) = ("webhooks".to_owned(), context.now);
    let hidden = json!({"base": base, "isOwn": true});
    Some(StoredObject { kind, id, state: None, created_at: at, updated_at: at, object, hidden })
}

/// The webhook in the path.
pub(super) fn of_path(context: &mut CallContext<'_>) -> Result<StoredObject, Halt> {
    let (base, id) = (base_of(context)?, context.path("id"));
    let own = own(context, &base).filter(|own| own.id == id);
    let found = match own {
        Some(own) => Some(own),
        None => context.find("webhooks", &id)?.filter(|webhook| webhook.hidden["base"] == *base),
    };
    found.ok_or_else(|| CallFailure::NotFound { kind: "webhooks", id, field: "id" }.into())
}

/// The same, unless it is the mock's own, which only its settings change.
fn registered(context: &mut CallContext<'_>) -> Result<StoredObject, Halt> {
    let webhook = of_path(context)?;
    if webhook.hidden["isOwn"] == true {
        return Err(
            CallFailure::invalid("id", "the mock's own webhook cannot be changed here").into()
        );
    }
    Ok(webhook)
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let base = base_of(context)?;
    let mut webhooks = of_base(context, &base)?;
    context.need_rows(
        "~number",
        webhooks.iter().map(|webhook| counter(&webhook.id)).collect::<Vec<_>>(),
    )?;
    let mut shown = Vec::new();
    for webhook in &mut webhooks {
        let next = last(context, &webhook.id)? + 1;
        webhook.object["cursorForNextPayload"] = json!(next);
        shown.push(webhook.object.take());
    }
    Ok(MockReply::ok(&json!({"webhooks": shown})))
}

/// The counter of a webhook's payloads.
pub(super) fn counter(webhook: &str) -> String {
    format!("payloads of {webhook}")
}

/// The number of the last payload of a webhook; zero where there is none.
pub(super) fn last(context: &mut CallContext<'_>, webhook: &str) -> Result<u64, Halt> {
    let last = context.row("~number", &counter(webhook))?;
    Ok(last.and_then(|doc| doc.parse().ok()).unwrap_or(0))
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let base = base_of(context)?;
    let specification = context.field("specification").filter(|it| it.is_object()).cloned();
    let specification = specification.ok_or_else(|| CallFailure::missing("specification"))?;
    if !specification["options"]["filters"]["dataTypes"].is_array() {
        return Err(CallFailure::missing("specification.options.filters.dataTypes").into());
    }
    let url = context.text("notificationUrl");
    let is_web = |url: &String| url.starts_with("http://") || url.starts_with("https://");
    if url.as_ref().is_some_and(|url| !is_web(url)) {
        return Err(CallFailure::invalid("notificationUrl", "is no web address").into());
    }
    if context.list("webhooks")?.len() >= MAX_WEBHOOKS {
        let (field, code) = ("webhooks".to_owned(), "TOO_MANY_WEBHOOKS_IN_BASE");
        let message = format!("There are {MAX_WEBHOOKS} webhooks already");
        return Err(CallFailure::Invalid { field, code, message }.into());
    }
    let (id, expires) = (context.id("webhooks"), context.now.after(HELD));
    let secret = context.chance.base62(SECRET_LETTERS);
    let object = json!({
        "id": id,
        "areNotificationsEnabled": url.is_some(),
        "cursorForNextPayload": 1,
        "isHookEnabled": true,
        "lastNotificationResult": null,
        "lastSuccessfulNotificationTime": null,
        "notificationUrl": url,
        "expirationTime": expires,
        "specification": specification,
    });
    let mut webhook = context.create("webhooks", &id, object);
    webhook.hidden = json!({"base": base, "secret": secret});
    context.put(webhook);
    let answer = json!({"id": id, "macSecretBase64": secret, "expirationTime": expires});
    Ok(MockReply::ok(&answer))
}

pub(super) fn refresh(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (webhook, expires) = (registered(context)?, context.now.after(HELD));
    context.change(webhook, json!({"expirationTime": expires}));
    Ok(MockReply::ok(&json!({"expirationTime": expires})))
}

pub(super) fn enable(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let webhook = registered(context)?;
    let is_on = context.body.get("enable").and_then(Value::as_bool);
    let is_on = is_on.ok_or_else(|| CallFailure::missing("enable"))?;
    context.change(webhook, json!({"areNotificationsEnabled": is_on}));
    Ok(MockReply::ok(&json!({})))
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let webhook = registered(context)?;
    context.remove(&webhook);
    Ok(MockReply::ok(&json!({})))
}
