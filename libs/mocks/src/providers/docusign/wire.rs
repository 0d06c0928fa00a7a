//! What every answer of `DocuSign` has in common: errors, limits, tokens, Connect and its signatures.

use aws_lc_rs::hmac;
use data_encoding::BASE64;
use serde_json::{Map, Value, json};

use crate::{
    MockReply, SignedRequest, Signing, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
    oauth::{self, TokenGrant},
};

/// What Connect tells of.
pub(super) const EVENTS: &[&str] = &[
    "envelope-created",
    "envelope-sent",
    "envelope-resent",
    "envelope-delivered",
    "envelope-completed",
    "envelope-declined",
    "envelope-voided",
    "envelope-deleted",
    "recipient-sent",
    "recipient-delivered",
    "recipient-completed",
    "recipient-declined",
    "recipient-authenticationfailed",
    "recipient-autoresponded",
];
/// Codes of what is wrong with a call, and what is said where the call itself says no more.
const CODES: [(&str, u16, &str); 8] = [
    ("ENVELOPE_IS_INCOMPLETE", 400, ""),
    ("ENVELOPE_INVALID_STATUS", 400, "The envelope status does not allow this operation."),
    (
        "ENVELOPE_CANNOT_VOID_INVALID_STATE",
        400,
        "Only envelopes in the 'Sent' or 'Delivered' states may be voided.",
    ),
    ("UNABLE_TO_LOAD_DOCUMENT", 400, "Unable to load the document."),
    (
        "UNKNOWN_ENVELOPE_RECIPIENT",
        400,
        "The recipient you have identified is not a valid recipient of the specified envelope.",
    ),
    ("USER_LACKS_MEMBERSHIP", 400, "The UserID does not have a valid membership in this Account."),
    ("FOLDER_DOES_NOT_EXIST", 400, "The specified folder does not exist."),
    ("INVALID_EMAIL_ADDRESS_FOR_RECIPIENT", 400, "The email address for the recipient is invalid."),
];
/// Calls of an hour by what the headers say.
const HOURLY: u32 = 3_000;
/// Seconds that a token holds by what the answer says.
const TOKEN_LIFE: u32 = 28_800;

pub(super) fn finish(reply: &mut MockReply, context: &CallContext<'_>) {
    let mut add = |name: &str, value: String| reply.headers.push((name.to_owned(), value));
    add("x-docusign-tracetoken", context.mock.call_id.to_owned());
    add("x-ratelimit-limit", HOURLY.to_string());
    add("x-ratelimit-remaining", if reply.status == 429 { 0 } else { HOURLY - 1 }.to_string());
    let hour = context.mock.now.millis().div_euclid(3_600_000) + 1;
    add("x-ratelimit-reset", (hour * 3_600).to_string());
}

pub(super) fn error(failure: &CallFailure, context: &CallContext<'_>) -> MockReply {
    let said = |status, code: &str, message: &str| {
        MockReply::json(status, &json!({"errorCode": code, "message": message}))
    };
    match failure {
        CallFailure::Unauthorized if context.call.path == super::TOKEN => oauth::invalid_client(),
        CallFailure::Unauthorized if context.call.header("authorization").is_none() => said(
            401,
            "USER_AUTHENTICATION_FAILED",
            "One or both of Username and Password are invalid. Invalid access token",
        ),
        CallFailure::Unauthorized => said(
            401,
            "AUTHORIZATION_INVALID_TOKEN",
            "The access token provided is expired, revoked or malformed.",
        ),
        CallFailure::NotFound { kind, .. } => {
            let code = match *kind {
                "templates" => "TEMPLATE_ID_INVALID",
                "documents" => "DOCUMENT_DOES_NOT_EXIST",
                "connect" => "CONNECT_CONFIGURATION_DOES_NOT_EXIST",
                _ => "ENVELOPE_DOES_NOT_EXIST",
            };
            said(404, code, "What the request names does not exist, or you have no rights to it.")
        }
        CallFailure::NoRoute => {
            let message = "The resource could not be found.";
            said(404, "RESOURCE_NOT_FOUND", message)
        }
        CallFailure::Invalid { field, code, message } => invalid(field, code, message),
        CallFailure::Declined(decline, _) => {
            said(400, "INVALID_REQUEST_PARAMETER", decline.message)
        }
        CallFailure::KeyReused { key } => {
            said(400, "INVALID_REQUEST_PARAMETER", &format!("the key {key} was used"))
        }
        CallFailure::TooLarge => said(413, "REQUEST_TOO_LARGE", "The request is too large."),
        CallFailure::RateLimited { after } => {
            let message = "The maximum number of hourly API invocations has been exceeded.";
            said(429, "HOURLY_APIINVOCATION_LIMIT_EXCEEDED", message)
                .with("retry-after", after.to_string())
        }
        CallFailure::Server => said(500, "UNSPECIFIED_ERROR", "An error occurred."),
        CallFailure::Unavailable => said(503, "SERVICE_UNAVAILABLE", "The service is unavailable."),
    }
}

fn invalid(field: &str, code: &str, message: &str) -> MockReply {
    let known = CODES.iter().find(|(known, _, _)| *known == code);
    let (status, code, message) = if let Some((code, status, usual)) = known {
        (*status, *code, if message.is_empty() { usual } else { message }.to_owned())
    } else {
        let begin = "The request contained at least one invalid parameter.";
        (400, "INVALID_REQUEST_PARAMETER", format!("{begin} {field}: {message}"))
    };
    MockReply::json(status, &json!({"errorCode": code, "message": message}))
}

/// A failure with one of the codes, and what is usually said with it.
pub(super) fn refused(code: &'static str) -> Halt {
    CallFailure::Invalid { field: String::new(), code, message: String::new() }.into()
}

pub(super) fn token(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let grant = TokenGrant { token: "accessToken", lifetime: TOKEN_LIFE, default: "" };
    oauth::token(context, &grant)
}

/// A credential of the mock.
pub(super) fn own(context: &CallContext<'_>, name: &str) -> String {
    context.mock.credentials.get(name).cloned().unwrap_or_default()
}

/// Checks that the call is for the mock's account.
pub(super) fn check_account(context: &CallContext<'_>) -> Result<(), Halt> {
    if context.path("account").eq_ignore_ascii_case(&own(context, "accountId")) {
        return Ok(());
    }
    Err(refused("USER_LACKS_MEMBERSHIP"))
}

/// The object that the path names, of the mock's account.
pub(super) fn of_path(
    context: &mut CallContext<'_>,
    kind: &'static str,
) -> Result<StoredObject, Halt> {
    check_account(context)?;
    context.of_path(kind)
}

/// Who uses the account.
pub(super) fn sender(context: &CallContext<'_>) -> Value {
    json!({
        "userName": "Trapline Sender", "userId": own(context, "userId"),
        "accountId": own(context, "accountId"), "email": "sender@example.com",
    })
}

#[expect(clippy::unnecessary_wraps, reason = "what a route takes")]
pub(super) fn user_info(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let account = json!({
        "account_id": own(context, "accountId"), "is_default": true, "account_name": "Trapline",
        "base_uri": context.url(""),
    });
    let info = json!({
        "sub": own(context, "userId"), "name": "Trapline Sender", "given_name": "Trapline",
        "family_name": "Sender", "email": "sender@example.com", "created": "2026-01-01T00:00:00.000",
        "accounts": [account],
    });
    Ok(MockReply::ok(&info))
}

pub(super) fn account_info(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    check_account(context)?;
    let id = own(context, "accountId");
    let info = json!({
        "accountIdGuid": id, "accountName": "Trapline", "isDefault": "true", "planName": "Developer",
        "currentPlanId": "developer", "canUpgrade": "false", "suspensionStatus": "",
    });
    Ok(MockReply::ok(&info))
}

/// A value whose numbers and flags are texts, as all are in this API.
pub(super) fn texts(value: Value) -> Value {
    match value {
        Value::Bool(_) | Value::Number(_) => json!(value.to_string()),
        Value::Array(list) => Value::Array(list.into_iter().map(texts).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, texts(value))).collect())
        }
        other => other,
    }
}

/// Tells the app of an envelope, or of one of its recipients: to the mock's addresses, and to the envelope's own.
pub(super) fn tell(
    context: &mut CallContext<'_>,
    event: &'static str,
    envelope: &StoredObject,
    recipient: Option<&str>,
) {
    let account = own(context, "accountId");
    let mut data = json!({
        "accountId": account, "userId": own(context, "userId"), "envelopeId": envelope.id,
    });
    match recipient {
        Some(id) => data["recipientId"] = json!(id),
        None => data["envelopeSummary"] = summary(envelope),
    }
    let body = json!({
        "event": event, "apiVersion": "v2.1", "retryCount": 0, "configurationId": 1,
        "uri": format!("/restapi/v2.1/accounts/{account}/envelopes/{}", envelope.id),
        "generatedDateTime": context.now.to_string(), "data": data,
    });
    context.emit_json(event, &envelope.id, &body);
    let notification = &envelope.hidden["notification"];
    let wanted = notification["events"].as_array();
    let is_wanted = wanted.is_none_or(|events| events.is_empty() || events.contains(&json!(event)));
    if let Some(url) = notification["url"].as_str().filter(|_| is_wanted) {
        context.emit_json_to(event, &envelope.id, Some(url.to_owned()), body.to_string());
    }
}

/// An envelope with its signers, without the tabs that these fill in.
fn summary(envelope: &StoredObject) -> Value {
    let mut summary = envelope.object.clone();
    let mut recipients = envelope.hidden["recipients"].clone();
    let lists = recipients.as_object_mut().into_iter().flat_map(Map::values_mut);
    for recipient in lists.filter_map(Value::as_array_mut).flatten() {
        if let Some(fields) = recipient.as_object_mut() {
            fields.remove("tabs");
        }
    }
    summary["recipients"] = recipients;
    summary
}

/// A signature for the Connect key, and one for the key before it.
pub(super) fn sign(signing: &Signing<'_>) -> SignedRequest {
    let of = |secret: &str| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        BASE64.encode(hmac::sign(&key, signing.body).as_ref())
    };
    let first = ("x-docusign-signature-1", of(signing.secret));
    let second = signing.before.map(|secret| ("x-docusign-signature-2", of(secret)));
    let digest = ("x-authorization-digest", "HMACSHA256".to_owned());
    [first, digest].into_iter().chain(second).collect()
}
