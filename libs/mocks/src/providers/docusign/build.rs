//! Makes envelopes of what a call describes: recipients, documents, templates, where events go.

use data_encoding::BASE64;
use serde_json::{Map, Value, json};

use super::wire::{refused, texts};
use crate::{context::CallContext, failure::Halt};

/// Lists of recipients of which each takes part in the order of signing.
pub(super) const SIGNERS: &str = "signers";
/// Lists of recipients that an envelope may have.
const LISTS: [(&str, &str); 5] = [
    (SIGNERS, "signer"),
    ("carbonCopies", "carboncopy"),
    ("certifiedDeliveries", "certifieddelivery"),
    ("inPersonSigners", "inpersonsigner"),
    ("editors", "editor"),
];
/// Recipients and documents of one envelope.
const MAX_RECIPIENTS: usize = 50;
const MAX_DOCUMENTS: usize = 50;
const MAX_TEXT: usize = 500;

fn short(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    text.chars().take(MAX_TEXT).collect()
}

/// The recipients that a call or a template describes, each as the API answers it.
pub(super) fn recipients(context: &CallContext<'_>, given: &Value) -> Result<Value, Halt> {
    let (mut all, mut count) = (Map::new(), 0_usize);
    for (list, kind) in LISTS {
        let Some(given) = given[list].as_array() else { continue };
        let mut made = Vec::new();
        for one in given {
            count += 1;
            made.push(recipient(context, one, kind, count)?);
        }
        all.insert(list.to_owned(), Value::Array(made));
    }
    if count > MAX_RECIPIENTS {
        return Err(refused("ENVELOPE_IS_INCOMPLETE"));
    }
    all.insert("recipientCount".to_owned(), json!(count.to_string()));
    Ok(Value::Object(all))
}

fn recipient(
    context: &CallContext<'_>,
    given: &Value,
    kind: &str,
    place: usize,
) -> Result<Value, Halt> {
    let email = short(&given["email"]);
    let has_role = given["roleName"].as_str().is_some_and(|role| !role.is_empty());
    let is_open_role = has_role && email.is_empty();
    if !email.contains('@') && !is_open_role {
        return Err(refused("INVALID_EMAIL_ADDRESS_FOR_RECIPIENT"));
    }
    let mut made = texts(given.clone());
    let usual = |value: &Value, usual: &str| {
        let text = short(value);
        if text.is_empty() { usual.to_owned() } else { text }
    };
    for (name, value) in [
        ("recipientId", usual(&given["recipientId"], &place.to_string())),
        ("routingOrder", usual(&given["routingOrder"], "1")),
        ("recipientIdGuid", context.uuid()),
        ("userId", context.uuid()),
        ("recipientType", kind.to_owned()),
        ("status", "created".to_owned()),
        ("creationReason", "sender".to_owned()),
        ("deliveryMethod", usual(&given["deliveryMethod"], "email")),
        ("requireIdLookup", "false".to_owned()),
        ("isBulkRecipient", "false".to_owned()),
    ] {
        made[name] = json!(value);
    }
    Ok(made)
}

/// The documents that a call describes; what is in them is not kept.
pub(super) fn documents(context: &CallContext<'_>, given: &Value) -> Result<Vec<Value>, Halt> {
    let Some(given) = given.as_array() else { return Ok(Vec::new()) };
    if given.len() > MAX_DOCUMENTS {
        return Err(refused("UNABLE_TO_LOAD_DOCUMENT"));
    }
    let files = context.field("files").and_then(Value::as_array);
    let mut made = Vec::new();
    for (place, one) in given.iter().enumerate() {
        let id = match short(&one["documentId"]) {
            id if id.is_empty() => (place + 1).to_string(),
            id => id,
        };
        let part = files.into_iter().flatten().find(|file| file["documentId"] == id.as_str());
        let size = match (one["documentBase64"].as_str(), part) {
            (Some(text), _) => {
                let text: String = text.split_whitespace().collect();
                let decoded = BASE64.decode(text.as_bytes());
                decoded.map_err(|_| refused("UNABLE_TO_LOAD_DOCUMENT"))?.len()
            }
            (None, Some(part)) => {
                part["size"].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
            }
            (None, None) => 0,
        };
        let order = (place + 1).to_string();
        made.push(json!({
            "documentId": id, "documentIdGuid": context.uuid(), "name": short(&one["name"]),
            "type": "content", "order": order, "sizeBytes": size.to_string(), "display": "inline",
            "includeInDownload": "true", "signerMustAcknowledge": "no_interaction",
        }));
    }
    Ok(made)
}

/// The recipients of a template, with the people who have its roles.
pub(super) fn with_roles(mut recipients: Value, roles: &Value) -> Value {
    let roles = roles.as_array().cloned().unwrap_or_default();
    let lists = recipients.as_object_mut().into_iter().flat_map(Map::values_mut);
    for recipient in lists.filter_map(Value::as_array_mut).flatten() {
        let role = roles.iter().find(|role| {
            let is_same = |name: &str| recipient["roleName"].as_str() == role[name].as_str();
            role["roleName"].is_string() && is_same("roleName")
        });
        let Some(fields) = role.and_then(Value::as_object) else { continue };
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            recipient[name] = value.clone();
        }
    }
    recipients
}

/// Where an envelope's own events go, and which.
pub(super) fn notification(given: &Value) -> Value {
    let Some(url) = given["url"].as_str().filter(|url| !url.is_empty()) else { return Value::Null };
    let codes = |list: &str, field: &str, prefix: &str| -> Vec<String> {
        let list = given[list].as_array().into_iter().flatten();
        let codes = list.filter_map(|entry| entry[field].as_str());
        codes.map(|code| format!("{prefix}-{}", code.to_lowercase())).collect()
    };
    let named = given["events"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let events: Vec<_> = named
        .map(str::to_owned)
        .chain(codes("envelopeEvents", "envelopeEventStatusCode", "envelope"))
        .chain(codes("recipientEvents", "recipientEventStatusCode", "recipient"))
        .collect();
    json!({"url": url, "events": events})
}
