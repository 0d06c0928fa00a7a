//! What every answer of Onfido has in common: errors, lists, events.

use serde_json::{Map, Value, json};

use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
    oauth::{self, TokenGrant},
};

/// The path below which all is.
pub(super) const BASE: &str = "/v3.6";
/// What the app is told of.
pub(super) const EVENTS: &[&str] = &[
    "workflow_run.completed",
    "workflow_task.started",
    "workflow_task.completed",
    "check.started",
    "check.reopened",
    "check.withdrawn",
    "check.completed",
    "check.form_completed",
    "report.completed",
    "report.withdrawn",
];
const DEFAULT_PAGE: i64 = 20;
const MAX_PAGE: i64 = 500;
/// Seconds that a token holds by what the answer says; it holds until it is replaced.
const TOKEN_LIFE: u32 = 3_600;

pub(super) fn finish(reply: &mut MockReply, context: &CallContext<'_>) {
    reply.headers.push(("x-request-id".to_owned(), context.mock.call_id.to_owned()));
}

pub(super) fn error(failure: &CallFailure, context: &CallContext<'_>) -> MockReply {
    let said = |status, kind: &str, message: &str, fields: Value| {
        let mut error = json!({"type": kind, "message": message});
        if !fields.is_null() {
            error["fields"] = fields;
        }
        MockReply::json(status, &json!({"error": error}))
    };
    let plain = |status, kind: &str, message: &str| said(status, kind, message, Value::Null);
    match failure {
        CallFailure::Unauthorized if context.call.path == super::TOKEN => oauth::invalid_client(),
        CallFailure::Unauthorized => plain(
            401,
            "authorization_error",
            "Authorization error: please re-check your credentials",
        ),
        CallFailure::NotFound { .. } => {
            plain(404, "resource_not_found", "Could not find the requested resource")
        }
        CallFailure::NoRoute => {
            plain(404, "resource_not_found", "Could not find the requested path")
        }
        CallFailure::Invalid { field, code, message } => {
            let text = if *code == "missing" { "can't be blank" } else { message };
            let mut fields = Map::new();
            fields.insert(field.clone(), json!([text]));
            let message = "There was a validation error on this request";
            said(422, "validation_error", message, Value::Object(fields))
        }
        CallFailure::Declined(decline, _) => plain(422, "validation_error", decline.message),
        CallFailure::KeyReused { key } => {
            plain(422, "validation_error", &format!("the key {key} was used"))
        }
        CallFailure::TooLarge => plain(413, "payload_too_large", "The request is too large"),
        CallFailure::RateLimited { after } => {
            let message = "The rate limit has been reached. Please try again later.";
            plain(429, "rate_limit", message).with("retry-after", after.to_string())
        }
        CallFailure::Server => plain(500, "internal_server_error", "An internal error occurred"),
        CallFailure::Unavailable => {
            plain(503, "service_unavailable", "The service is temporarily unavailable")
        }
    }
}

/// Onfido's clients name no grant.
pub(super) fn token(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let grant =
        TokenGrant { token: "apiToken", lifetime: TOKEN_LIFE, default: "client_credentials" };
    oauth::token(context, &grant)
}

#[expect(clippy::unnecessary_wraps, reason = "what a route takes")]
pub(super) fn ping(_: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    Ok(MockReply::ok(&json!("OK")).with("cache-control", "no-store"))
}

/// An object without its fields that are null: the vendor's clients refuse these.
pub(super) fn dense(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

/// A page of objects under a name, newest first, with the headers that lead to the others.
pub(super) fn page(
    context: &mut CallContext<'_>,
    name: &str,
    objects: Vec<StoredObject>,
) -> Result<MockReply, Halt> {
    let (shown, reply) = paged(context, objects)?;
    Ok(MockReply { body: json!({name: shown}).to_string(), ..reply })
}

/// The objects of the page that the call wants, and a reply with the headers.
pub(super) fn paged(
    context: &mut CallContext<'_>,
    objects: Vec<StoredObject>,
) -> Result<(Vec<Value>, MockReply), Halt> {
    let page = context.int("page")?.unwrap_or(1);
    let size = context.int("per_page")?.unwrap_or(DEFAULT_PAGE);
    if page < 1 || !(1..=MAX_PAGE).contains(&size) {
        let message = format!("page must be at least 1, and per_page from 1 to {MAX_PAGE}");
        return Err(CallFailure::invalid("page", message).into());
    }
    let total = objects.len();
    let first = usize::try_from((page - 1).saturating_mul(size)).unwrap_or(usize::MAX);
    let count = usize::try_from(size).unwrap_or(0);
    let shown: Vec<_> = objects.into_iter().skip(first).take(count).collect();
    for object in &shown {
        context.touch(&object.id);
    }
    let mut reply = MockReply::ok(&Value::Null).with("x-total-count", total.to_string());
    if first.saturating_add(count) < total {
        let path = format!("{}?page={}&per_page={size}", context.call.path, page + 1);
        reply = reply.with("link", format!("<{}>; rel=\"next\"", context.url(&path)));
    }
    Ok((shown.into_iter().map(|object| object.object).collect(), reply))
}

/// The objects of a kind that belong to what a parameter names, which has to be there.
pub(super) fn of_owner(
    context: &mut CallContext<'_>,
    kind: &str,
    field: &'static str,
    owners: &'static str,
) -> Result<Vec<StoredObject>, Halt> {
    let owner = context.need(field)?;
    context.get(owners, &owner, field)?;
    let mut objects = context.list(kind)?;
    objects.retain(|object| {
        object.hidden[field] == owner.as_str() || object.object[field] == owner.as_str()
    });
    Ok(objects)
}

/// Tells the app what became of something.
pub(super) fn tell(context: &mut CallContext<'_>, event: &'static str, id: &str, status: &str) {
    let (kind, _) = event.split_once('.').unwrap_or((event, ""));
    let mut object = json!({
        "id": id, "status": status, "href": context.url(&format!("{BASE}/{kind}s/{id}")),
    });
    let now = context.now.to_string();
    let name =
        if event.ends_with(".started") { "started_at_iso8601" } else { "completed_at_iso8601" };
    object[name] = json!(format!("{}Z", now.get(..19).unwrap_or_default()));
    let payload = json!({"resource_type": kind, "action": event, "object": object});
    context.emit_json(event, id, &json!({"payload": payload}));
}
