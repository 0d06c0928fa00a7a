//! What every answer of Plaid has in common: errors, ids of requests, webhooks and their signatures.

use aws_lc_rs::digest::{SHA256, digest};
use data_encoding::HEXLOWER;
use serde_json::{Map, Value, json};

use crate::{
    MockReply, SignedRequest, Signing, StoredObject,
    context::CallContext,
    credentials::public_key,
    failure::{CallFailure, Halt},
    jws::EcKey,
    sign::seconds,
};

/// Transactions of an item are there, or others than before.
pub(super) const SYNC: &str = "TRANSACTIONS.SYNC_UPDATES_AVAILABLE";
/// Type and code of each webhook, joined.
pub(super) const EVENTS: &[&str] = &[
    SYNC,
    "TRANSACTIONS.DEFAULT_UPDATE",
    "ITEM.ERROR",
    "ITEM.PENDING_DISCONNECT",
    "ITEM.NEW_ACCOUNTS_AVAILABLE",
    "ITEM.USER_PERMISSION_REVOKED",
    "ITEM.LOGIN_REPAIRED",
    "AUTH.SMS_MICRODEPOSITS_VERIFICATION",
    "TRANSFER.TRANSFER_EVENTS_UPDATE",
];
/// Codes of errors, with the type that they belong to.
const TYPES: [(&str, &str); 6] = [
    ("ITEM_LOGIN_REQUIRED", "ITEM_ERROR"),
    ("PRODUCT_NOT_READY", "ITEM_ERROR"),
    ("RATE_LIMIT", "RATE_LIMIT_EXCEEDED"),
    ("INTERNAL_SERVER_ERROR", "API_ERROR"),
    ("INSTITUTION_DOWN", "INSTITUTION_ERROR"),
    ("NSF", "TRANSFER_ERROR"),
];
/// What is not found, the code for it, and what is said.
const NOT_FOUND: [(&str, &str, &str); 6] = [
    ("access_token", "INVALID_ACCESS_TOKEN", "could not find matching access token"),
    ("public_token", "INVALID_PUBLIC_TOKEN", "could not find matching public token"),
    ("institution_id", "INVALID_INSTITUTION", "invalid institution_id provided"),
    ("account_id", "INVALID_ACCOUNT_ID", "failed to find requested account ID for requested item"),
    ("key_id", "INVALID_WEBHOOK_VERIFICATION_KEY_ID", "invalid key_id provided"),
    ("", "INVALID_FIELD", "could not find what the request names"),
];
/// Where calls are counted by their product, the codes of their limits.
const LIMITS: [(&str, &str); 8] = [
    ("/accounts/balance/", "BALANCE_LIMIT"),
    ("/accounts/", "ACCOUNTS_LIMIT"),
    ("/auth/", "AUTH_LIMIT"),
    ("/identity/", "IDENTITY_LIMIT"),
    ("/institutions/get_by_id", "INSTITUTIONS_GET_BY_ID_LIMIT"),
    ("/institutions/", "INSTITUTIONS_GET_LIMIT"),
    ("/item/get", "ITEM_GET_LIMIT"),
    ("/transactions/", "TRANSACTIONS_LIMIT"),
];
const DOCS: &str = "https://plaid.com/docs/errors/";
/// Letters of a call's id that are the id of the request.
const REQUEST_LETTERS: usize = 15;

fn request_id<'a>(context: &CallContext<'a>) -> &'a str {
    let id = context.mock.call_id;
    &id[id.len().saturating_sub(REQUEST_LETTERS)..]
}

pub(super) fn finish(reply: &mut MockReply, context: &CallContext<'_>) {
    reply.headers.push(("plaid-request-id".to_owned(), request_id(context).to_owned()));
}

/// 200 with these fields and the id of the request.
#[expect(clippy::unnecessary_wraps, reason = "what a handler answers")]
pub(super) fn ok(context: &CallContext<'_>, mut body: Value) -> Result<MockReply, Halt> {
    body["request_id"] = json!(request_id(context));
    Ok(MockReply::ok(&body))
}

pub(super) fn error(failure: &CallFailure, context: &CallContext<'_>) -> MockReply {
    let said = |status, kind: &str, code: &str, message: &str| {
        let mut body = error_body(kind, code, message);
        body["request_id"] = json!(request_id(context));
        MockReply::json(status, &body)
    };
    match failure {
        CallFailure::Unauthorized => {
            said(400, "INVALID_INPUT", "INVALID_API_KEYS", "invalid client_id or secret provided")
        }
        CallFailure::NotFound { field, .. } => {
            let found = NOT_FOUND.iter().find(|(name, _, _)| name == field || name.is_empty());
            let (_, code, message) = found.copied().unwrap_or_default();
            said(400, "INVALID_INPUT", code, message)
        }
        CallFailure::NoRoute => said(404, "INVALID_REQUEST", "NOT_FOUND", "not found"),
        CallFailure::Invalid { field, code: "missing", .. } => {
            let message = format!("the following required fields are missing: {field}");
            said(400, "INVALID_REQUEST", "MISSING_FIELDS", &message)
        }
        CallFailure::Invalid { field, .. } if field == "body" => {
            said(400, "INVALID_REQUEST", "INVALID_BODY", "body could not be parsed as JSON")
        }
        CallFailure::Invalid { field, message, .. } => {
            said(400, "INVALID_REQUEST", "INVALID_FIELD", &format!("{field}: {message}"))
        }
        CallFailure::Declined(decline, _) => {
            let status = match decline.code {
                "RATE_LIMIT" => 429,
                "INTERNAL_SERVER_ERROR" => 500,
                _ => 400,
            };
            said(status, type_of(decline.code), decline.code, decline.message)
        }
        CallFailure::KeyReused { key } => {
            let message = format!("idempotency_key: {key} was used with other parameters");
            said(400, "INVALID_REQUEST", "INVALID_FIELD", &message)
        }
        CallFailure::TooLarge => {
            said(413, "INVALID_REQUEST", "INVALID_BODY", "the body is too large")
        }
        CallFailure::RateLimited { after } => {
            let path = &context.call.path;
            let limit = LIMITS.iter().find(|(begin, _)| path.starts_with(begin));
            let code = limit.map_or("RATE_LIMIT", |(_, code)| code);
            let message = "rate limit exceeded. please try again later";
            said(429, "RATE_LIMIT_EXCEEDED", code, message).with("retry-after", after.to_string())
        }
        CallFailure::Server => {
            said(500, "API_ERROR", "INTERNAL_SERVER_ERROR", "an unexpected error occurred")
        }
        CallFailure::Unavailable => {
            said(503, "API_ERROR", "PLANNED_MAINTENANCE", "the API is down for maintenance")
        }
    }
}

fn type_of(code: &str) -> &'static str {
    TYPES.iter().find(|(known, _)| *known == code).map_or("INVALID_REQUEST", |(_, of)| of)
}

fn error_body(kind: &str, code: &str, message: &str) -> Value {
    let page = kind.to_lowercase().replace('_', "-");
    json!({
        "error_type": kind, "error_code": code, "error_message": message, "display_message": null,
        "documentation_url": format!("{DOCS}{page}/#{}", code.to_lowercase()),
        "suggested_action": null,
    })
}

/// The error that an item has, as the item and its webhooks show it.
pub(super) fn item_error(context: &CallContext<'_>, code: &str) -> Value {
    let decline = context.provider.decline(code);
    let message = decline.map_or("", |decline| decline.message);
    let mut body = error_body(type_of(code), code, message);
    body["status"] = json!(400);
    body
}

/// Sends a webhook about an item to the item's address, or else to the mock's.
pub(super) fn tell(
    context: &mut CallContext<'_>,
    event: &'static str,
    item: &StoredObject,
    more: Value,
) {
    let url = item.object["webhook"].as_str().filter(|url| !url.is_empty()).map(str::to_owned);
    let mut fields = more;
    fields["item_id"] = json!(item.id);
    send(context, event, &item.id, url, fields);
}

/// Sends a webhook. Plaid's bodies have whitespace, which the signature counts.
pub(super) fn send(
    context: &mut CallContext<'_>,
    event: &'static str,
    id: &str,
    url: Option<String>,
    more: Value,
) {
    let (kind, code) = event.split_once('.').unwrap_or((event, ""));
    let mut body = Map::from_iter([
        ("environment".to_owned(), json!("sandbox")),
        ("webhook_code".to_owned(), json!(code)),
        ("webhook_type".to_owned(), json!(kind)),
    ]);
    if let Value::Object(more) = more {
        body.extend(more);
    }
    context.emit_json_to(event, id, url, format!("{:#}", Value::Object(body)));
}

/// A signature over the hash of the body. A secret that is no key signs nothing.
pub(super) fn sign(signing: &Signing<'_>) -> SignedRequest {
    let hash = HEXLOWER.encode(digest(&SHA256, signing.body).as_ref());
    let claims = json!({"iat": seconds(signing.at), "request_body_sha256": hash});
    let token = EcKey::of(signing.secret).and_then(|key| key.sign(&claims));
    token.into_iter().map(|token| ("plaid-verification", token)).collect()
}

pub(super) fn verification_key(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let id = context.need("key_id")?;
    // Signatures have the real time, and so do their keys.
    let key = public_key(context.mock.credentials, super::KEY, &id, context.mock.now);
    let missing = CallFailure::NotFound { kind: "keys", id, field: "key_id" };
    let key = key.ok_or(missing)?;
    ok(context, json!({"key": key}))
}
