//! What every answer of `HubSpot` has in common, and its events.

use serde_json::{Value, json};

use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Types of objects, the word for one, and their events.
pub(super) const TYPES: [(&str, &str); 6] = [
    ("contacts", "contact"),
    ("companies", "company"),
    ("deals", "deal"),
    ("tickets", "ticket"),
    ("products", "product"),
    ("line_items", "line_item"),
];

const CREATED: [(&str, &str); 4] = [
    ("contacts", "contact.creation"),
    ("companies", "company.creation"),
    ("deals", "deal.creation"),
    ("tickets", "ticket.creation"),
];
const DELETED: [(&str, &str); 4] = [
    ("contacts", "contact.deletion"),
    ("companies", "company.deletion"),
    ("deals", "deal.deletion"),
    ("tickets", "ticket.deletion"),
];
const CHANGED: [(&str, &str); 4] = [
    ("contacts", "contact.propertyChange"),
    ("companies", "company.propertyChange"),
    ("deals", "deal.propertyChange"),
    ("tickets", "ticket.propertyChange"),
];
const MERGED: [(&str, &str); 4] = [
    ("contacts", "contact.merge"),
    ("companies", "company.merge"),
    ("deals", "deal.merge"),
    ("tickets", "ticket.merge"),
];
const ASSOCIATED: [(&str, &str); 4] = [
    ("contacts", "contact.associationChange"),
    ("companies", "company.associationChange"),
    ("deals", "deal.associationChange"),
    ("tickets", "ticket.associationChange"),
];
const PORTAL: u64 = 4711;

/// What happened to an object.
pub(super) enum Happening<'a> {
    Created,
    Deleted,
    Changed(&'a str, &'a Value),
    /// It took in the object with this id.
    Merged(&'a str),
}

pub(super) fn finish(reply: &mut MockReply, context: &CallContext<'_>) {
    let id = ("x-hubspot-correlation-id".to_owned(), context.mock.call_id.to_owned());
    reply.headers.push(id);
}

pub(super) fn error(failure: &CallFailure, context: &CallContext<'_>) -> MockReply {
    let said = |status, category: &str, message: &str| {
        let correlation = context.mock.call_id;
        let body = json!({
            "status": "error", "message": message, "correlationId": correlation, "category": category,
        });
        MockReply::json(status, &body)
    };
    match failure {
        CallFailure::Unauthorized => {
            let message = "Authentication credentials not found or invalid.";
            said(401, "INVALID_AUTHENTICATION", message)
        }
        CallFailure::NotFound { id, .. } => {
            said(404, "OBJECT_NOT_FOUND", &format!("resource not found: {id}"))
        }
        CallFailure::NoRoute => said(404, "OBJECT_NOT_FOUND", "Unable to find the requested path."),
        CallFailure::Invalid { code: "conflict", message, .. } => said(409, "CONFLICT", message),
        CallFailure::Invalid { field, message, .. } => {
            said(400, "VALIDATION_ERROR", &format!("{field}: {message}"))
        }
        CallFailure::Declined(decline, _) => said(403, "MISSING_SCOPES", decline.message),
        CallFailure::KeyReused { key } => said(400, "VALIDATION_ERROR", &format!("used: {key}")),
        CallFailure::TooLarge => said(413, "VALIDATION_ERROR", "The request is too large."),
        CallFailure::RateLimited { after } => {
            let message = "You have reached your ten_secondly_rolling limit.";
            let body = json!({
                "status": "error", "message": message, "errorType": "RATE_LIMIT",
                "correlationId": context.mock.call_id, "policyName": "TEN_SECONDLY_ROLLING",
                "category": "RATE_LIMITS",
            });
            MockReply::json(429, &body).with("retry-after", after.to_string())
        }
        CallFailure::Server => said(500, "INTERNAL_ERROR", "internal error"),
        CallFailure::Unavailable => said(503, "SERVICE_UNAVAILABLE", "temporarily unavailable"),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what a route takes")]
pub(super) fn account(_: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let details = json!({
        "portalId": PORTAL, "accountType": "DEVELOPER_TEST", "timeZone": "UTC",
        "companyCurrency": "USD", "additionalCurrencies": [], "utcOffset": "+00:00",
        "utcOffsetMilliseconds": 0, "uiDomain": "app.hubspot.com", "dataHostingLocation": "eu1",
    });
    Ok(MockReply::ok(&details))
}

/// Tells the app what happened, where there is an event for it.
pub(super) fn tell(
    context: &mut CallContext<'_>,
    object: &StoredObject,
    what: &Happening<'_>,
) -> Result<(), Halt> {
    let events = match what {
        Happening::Created => CREATED,
        Happening::Deleted => DELETED,
        Happening::Changed(..) => CHANGED,
        Happening::Merged(_) => MERGED,
    };
    let of_type = object.hidden["type"].as_str().unwrap_or_default();
    let Some((_, name)) = events.into_iter().find(|(known, _)| *known == of_type) else {
        return Ok(());
    };
    let number: u64 = object.id.parse().unwrap_or(0);
    let mut event = event(context, name)?;
    event["objectId"] = json!(number);
    match what {
        Happening::Created => event["changeFlag"] = json!("CREATED"),
        Happening::Deleted => event["changeFlag"] = json!("DELETED"),
        Happening::Changed(property, value) => {
            event["propertyName"] = json!(property);
            event["propertyValue"] = (*value).clone();
        }
        Happening::Merged(other) => {
            event["primaryObjectId"] = json!(number);
            event["mergedObjectIds"] = json!([other.parse::<u64>().unwrap_or(0)]);
            event["newObjectId"] = json!(number);
            event["changeFlag"] = json!("MERGED");
        }
    }
    context.emit_json(name, &object.id, &json!([event]));
    Ok(())
}

/// What all events have.
fn event(context: &mut CallContext<'_>, name: &str) -> Result<Value, Halt> {
    Ok(json!({
        "eventId": context.number("events")?,
        "subscriptionId": 1,
        "portalId": PORTAL,
        "appId": 1,
        "occurredAt": context.now.millis(),
        "subscriptionType": name,
        "attemptNumber": 0,
        "changeSource": "CRM",
    }))
}

/// Tells the app, from both sides, that two objects belong together or no more.
pub(super) fn tell_association(
    context: &mut CallContext<'_>,
    (from, from_type): (&StoredObject, &str),
    (to, to_type): (&StoredObject, &str),
    is_removed: bool,
) -> Result<(), Halt> {
    let word = |of_type: &str| {
        let known = TYPES.into_iter().find(|(name, _)| *name == of_type);
        known.map(|(_, one)| one.to_uppercase()).unwrap_or_default()
    };
    for (one, one_type, other, other_type) in
        [(from, from_type, to, to_type), (to, to_type, from, from_type)]
    {
        let known = ASSOCIATED.into_iter().find(|(known, _)| *known == one_type);
        let Some((_, name)) = known else { continue };
        let mut event = event(context, name)?;
        event["associationType"] = json!(format!("{}_TO_{}", word(one_type), word(other_type)));
        event["fromObjectId"] = json!(one.id.parse::<u64>().unwrap_or(0));
        event["toObjectId"] = json!(other.id.parse::<u64>().unwrap_or(0));
        event["associationRemoved"] = json!(is_removed);
        event["isPrimaryAssociation"] = json!(false);
        context.emit_json(name, &one.id, &json!([event]));
    }
    Ok(())
}
