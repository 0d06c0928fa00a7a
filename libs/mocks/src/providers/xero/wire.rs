//! What every answer of Xero has in common, dates, and events.

use serde_json::{Value, json};
use trapline_model::Time;

use crate::{
    Chance, Handshake, MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
    handshake::HandshakeRequest,
};

const PROVIDER: &str = "Trapline";
/// Letters of what makes the body of an event its own.
const ENTROPY: usize = 20;

/// Whether the app checks signatures: it answers 401 to a wrong one, and 200 to no other.
pub(super) const INTENT_TO_RECEIVE: Handshake = Handshake {
    event: "intent_to_receive",
    requests: &[
        HandshakeRequest { bad_signature: false, status: 200 },
        HandshakeRequest { bad_signature: true, status: 401 },
    ],
    body: |chance| envelope(&[], 0, chance).to_string(),
};

pub(super) fn finish(reply: &mut MockReply, context: &CallContext<'_>) {
    let mut header =
        |name: &str, value: &str| reply.headers.push((name.to_owned(), value.to_owned()));
    header("xero-correlation-id", context.mock.call_id);
    header("x-minlimit-remaining", "59");
    header("x-daylimit-remaining", "4999");
    header("x-appminlimit-remaining", "9999");
}

pub(super) fn error(failure: &CallFailure, context: &CallContext<'_>) -> MockReply {
    let problem = |status: u16, title: &str, detail: &str| {
        let body = json!({
            "Type": null, "Title": title, "Status": status, "Detail": detail,
            "Instance": context.mock.call_id, "Extensions": {},
        });
        MockReply::json(status, &body)
    };
    match failure {
        CallFailure::Unauthorized if context.call.path == super::TOKEN => {
            crate::oauth::invalid_client()
        }
        CallFailure::Unauthorized => problem(401, "Unauthorized", "AuthenticationUnsuccessful"),
        CallFailure::NotFound { id, .. } => problem(
            404,
            "NotFound",
            &format!("The resource you're looking for cannot be found: {id}"),
        ),
        CallFailure::NoRoute => {
            problem(404, "NotFound", "The resource you're looking for cannot be found")
        }
        CallFailure::Invalid { code: "query", message, .. } => {
            refused(16, "QueryParseException", message)
        }
        CallFailure::Invalid { field, code: "invalid", message } => {
            refused(17, "BadRequestException", &format!("{field}: {message}"))
        }
        CallFailure::Invalid { message, .. } => not_valid(message),
        CallFailure::Declined(decline, _) => not_valid(decline.message),
        CallFailure::KeyReused { key } => refused(
            17,
            "BadRequestException",
            &format!("The idempotency key {key} was used for another request"),
        ),
        CallFailure::TooLarge => problem(413, "RequestEntityTooLarge", "The request is too large"),
        CallFailure::RateLimited { after } => {
            problem(429, "TooManyRequests", "The minute limit is reached")
                .with("retry-after", after.to_string())
                .with("x-rate-limit-problem", "minute")
        }
        CallFailure::Server => problem(500, "InternalServerError", "An error occurred in Xero"),
        CallFailure::Unavailable => {
            problem(503, "ServiceUnavailable", "The organisation is not available")
        }
    }
}

fn refused(number: u32, kind: &str, message: &str) -> MockReply {
    MockReply::json(400, &json!({"ErrorNumber": number, "Type": kind, "Message": message}))
}

fn not_valid(message: &str) -> MockReply {
    let body = json!({
        "ErrorNumber": 10,
        "Type": "ValidationException",
        "Message": "A validation exception occurred",
        "Elements": [{"ValidationErrors": [{"Message": message}]}],
    });
    MockReply::json(400, &body)
}

/// A rule of the provider that a document breaks.
pub(super) fn broken(message: impl Into<String>) -> Halt {
    let (field, code) = (String::new(), "validation");
    CallFailure::Invalid { field, code, message: message.into() }.into()
}

/// An answer with objects of a type.
pub(super) fn answer(context: &CallContext<'_>, of_type: &str, objects: &[Value]) -> Value {
    json!({
        "Id": context.uuid(),
        "Status": "OK",
        "ProviderName": PROVIDER,
        "DateTimeUTC": ms_date(context.now),
        of_type: objects,
    })
}

/// A date as the SDKs read it.
pub(super) fn ms_date(time: Time) -> String {
    format!("/Date({}+0000)/", time.millis())
}

/// A date as apps write it: so, or of ISO 8601.
pub(super) fn time_of(text: &str) -> Option<Time> {
    if let Some(inner) = text.strip_prefix("/Date(").and_then(|rest| rest.strip_suffix(")/")) {
        let digits = inner.split_once('+').map_or(inner, |(millis, _)| millis);
        return digits.parse().ok().map(Time::from_millis);
    }
    let whole = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        _ if text.ends_with('Z') || text.get(19..).is_some_and(|zone| zone.contains('+')) => {
            text.to_owned()
        }
        _ => format!("{text}Z"),
    };
    whole.parse().ok()
}

/// Tells the app of a change, where there is an event for it.
pub(super) fn tell(
    context: &mut CallContext<'_>,
    object: &StoredObject,
    is_new: bool,
) -> Result<(), Halt> {
    let of_type = object.hidden["type"].as_str().unwrap_or_default();
    let (category, created, updated) = match of_type {
        "Invoices" => ("INVOICE", "INVOICE.CREATE", "INVOICE.UPDATE"),
        "Contacts" => ("CONTACT", "CONTACT.CREATE", "CONTACT.UPDATE"),
        "CreditNotes" => ("CREDITNOTE", "CREDITNOTE.CREATE", "CREDITNOTE.UPDATE"),
        _ => return Ok(()),
    };
    let number = context.number("events")?;
    let event = json!({
        "resourceUrl": context.url(&format!("/api.xro/2.0/{of_type}/{}", object.id)),
        "resourceId": object.id,
        "eventDateUtc": context.now.to_string().trim_end_matches('Z'),
        "eventType": if is_new { "CREATE" } else { "UPDATE" },
        "eventCategory": category,
        "tenantId": context.mock.credentials.get("tenantId"),
        "tenantType": "ORGANISATION",
    });
    let body = envelope(&[event], number, context.chance);
    context.emit_json(if is_new { created } else { updated }, &object.id, &body);
    Ok(())
}

/// The body of a webhook.
fn envelope(events: &[Value], number: u64, chance: &Chance) -> Value {
    json!({
        "events": events, "firstEventSequence": number, "lastEventSequence": number,
        "entropy": chance.letters(ENTROPY, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    })
}
