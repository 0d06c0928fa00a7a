//! What every answer of Stripe has in common: errors, headers, events, objects within objects.

use serde_json::{Map, Value, json};

use super::{expand::expanded, intents::merged};
use crate::{
    Decline, MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Codes that the API has beside the word for the decline.
const OWN_CODES: [&str; 3] = ["expired_card", "incorrect_cvc", "processing_error"];
const DOCS: &str = "https://stripe.com/docs/error-codes";

/// Letters of a call's id that are in the id of the request.
const REQUEST_LETTERS: usize = 14;

/// The id that the API gives to a request.
fn request_id(context: &CallContext<'_>) -> String {
    let id = context.mock.call_id;
    format!("req_{}", &id[id.len().saturating_sub(REQUEST_LETTERS)..])
}

pub(super) fn finish(reply: &mut MockReply, context: &CallContext<'_>) {
    let mut add = |name: &str, value: String| reply.headers.push((name.to_owned(), value));
    add("request-id", request_id(context));
    add("stripe-version", context.mock.settings.own("apiVersion").to_owned());
    if (400..500).contains(&reply.status) && reply.status != 429 {
        add("stripe-should-retry", "false".to_owned());
    }
}

pub(super) fn error(failure: &CallFailure, context: &CallContext<'_>) -> MockReply {
    let wrong = |status, fields: Value| invalid_request(status, fields);
    match failure {
        CallFailure::Unauthorized => wrong(401, json!({"message": "Invalid API Key provided."})),
        CallFailure::NotFound { kind, id, field } => {
            let message = format!("No such {}: '{id}'", singular(kind));
            let code = "resource_missing";
            wrong(
                404,
                json!({"code": code, "doc_url": doc(code), "message": message, "param": field}),
            )
        }
        CallFailure::NoRoute => {
            let call = context.call;
            let message = format!("Unrecognized request URL ({}: {}).", call.method, call.path);
            wrong(404, json!({"message": message}))
        }
        CallFailure::Invalid { field, code, message } => invalid(field, code, message),
        CallFailure::Declined(decline, details) => declined(decline, details),
        CallFailure::KeyReused { key } => {
            let message = format!(
                "Keys for idempotent requests can only be used with the same parameters they were first used with. \
                 Try using a key other than '{key}' if you meant to execute a different request."
            );
            let error = json!({"type": "idempotency_error", "message": message});
            MockReply::json(400, &json!({"error": error}))
        }
        CallFailure::TooLarge => wrong(413, json!({"message": "Request is too large."})),
        CallFailure::RateLimited { after } => {
            let message = "Request rate limit exceeded.";
            let fields =
                json!({"code": "rate_limit", "doc_url": doc("rate_limit"), "message": message});
            wrong(429, fields).with("retry-after", after.to_string())
        }
        CallFailure::Server => api_error(500),
        CallFailure::Unavailable => api_error(503),
    }
}

fn invalid_request(status: u16, fields: Value) -> MockReply {
    let mut error = Map::from_iter([("type".to_owned(), json!("invalid_request_error"))]);
    if let Value::Object(fields) = fields {
        error.extend(fields);
    }
    MockReply::json(status, &json!({"error": error}))
}

fn invalid(field: &str, code: &str, message: &str) -> MockReply {
    let mut fields = json!({"message": message});
    if !field.is_empty() {
        let mut parts = field.split('.');
        let mut param = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            param += "[";
            param += part;
            param += "]";
        }
        fields["param"] = json!(param);
    }
    let code = if code == "missing" { "parameter_missing" } else { code };
    if code != "invalid" {
        fields["code"] = json!(code);
        fields["doc_url"] = json!(doc(code));
    }
    invalid_request(400, fields)
}

fn declined(decline: &Decline, details: &Value) -> MockReply {
    let code = code_of(decline);
    let mut error = json!({
        "type": "card_error",
        "code": code,
        "decline_code": decline.code,
        "message": decline.message,
        "doc_url": doc(code),
    });
    if let (Some(error), Some(details)) = (error.as_object_mut(), details.as_object()) {
        error.extend(details.clone());
    }
    MockReply::json(402, &json!({"error": error}))
}

/// The code of the error of a decline.
pub(super) fn code_of(decline: &Decline) -> &'static str {
    if OWN_CODES.contains(&decline.code) { decline.code } else { "card_declined" }
}

fn api_error(status: u16) -> MockReply {
    let message = "An error occurred with our connection to the card networks.";
    MockReply::json(status, &json!({"error": {"type": "api_error", "message": message}}))
}

fn doc(code: &str) -> String {
    format!("{DOCS}/{}", code.replace('_', "-"))
}

fn singular(kind: &str) -> &str {
    match kind {
        "payments" => "payment_intent",
        "setups" => "setupintent",
        "methods" => "PaymentMethod",
        "endpoints" => "webhook_endpoint",
        "sessions" => "checkout.session",
        "items" => "invoiceitem",
        other => other.strip_suffix('s').unwrap_or(other),
    }
}

/// Tells the app of an event, which is an object too.
pub(super) fn emit(context: &mut CallContext<'_>, name: &'static str, object: &StoredObject) {
    emit_data(context, name, object, &json!({"object": object.object}));
}

fn emit_data(
    context: &mut CallContext<'_>,
    name: &'static str,
    object: &StoredObject,
    data: &Value,
) {
    let id = context.id("events");
    let key = context.call.header("idempotency-key").map(str::to_owned);
    let event = json!({
        "id": id,
        "object": "event",
        "api_version": context.mock.settings.own("apiVersion"),
        "created": context.seconds(),
        "data": data,
        "livemode": false,
        "pending_webhooks": 1,
        "request": {"id": request_id(context), "idempotency_key": key},
        "type": name,
    });
    context.create("events", &id, event.clone());
    context.emit_json(name, &object.id, &event);
}

/// The same of an object that was changed, with what its fields were before.
pub(super) fn emit_change(
    context: &mut CallContext<'_>,
    name: &'static str,
    object: &StoredObject,
    before: &Value,
) {
    let before = before.as_object().into_iter().flatten();
    let changed = before.filter(|(field, value)| object.object.get(field.as_str()) != Some(value));
    let previous = changed.map(|(field, value)| (field.clone(), value.clone())).collect();
    let data = json!({"object": object.object, "previous_attributes": Value::Object(previous)});
    emit_data(context, name, object, &data);
}

/// 200 with an object, and in it the objects that `expand[]` names.
pub(super) fn shown(context: &mut CallContext<'_>, object: Value) -> Result<MockReply, Halt> {
    Ok(MockReply::ok(&expanded(context, object)?))
}

/// The texts of a list.
pub(super) fn texts(context: &CallContext<'_>, name: &str) -> Vec<String> {
    let list = context.field(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A mistake that has a code of its own.
pub(super) fn refused(field: &str, code: &'static str, message: impl Into<String>) -> Halt {
    let (field, message) = (field.to_owned(), message.into());
    CallFailure::Invalid { field, code, message }.into()
}

/// The metadata of an object with what a call changes of it, where it does.
pub(super) fn new_metadata(context: &CallContext<'_>, before: &Value, fields: &mut Value) {
    if context.field("metadata").is_some() {
        fields["metadata"] = merged(&before["metadata"], &context.map("metadata"));
    }
}
