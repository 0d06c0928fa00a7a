//! What every answer of Twilio has in common.

use serde_json::json;

use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// The version of the API for messages and calls.
pub(super) const VERSION: &str = "2010-04-01";

const DOCS: &str = "https://www.twilio.com/docs/errors";

pub(super) fn finish(reply: &mut MockReply, context: &CallContext<'_>) {
    let id = format!("RQ{}", context.mock.call_id);
    reply.headers.push(("twilio-request-id".to_owned(), id));
}

pub(super) fn error(failure: &CallFailure, context: &CallContext<'_>) -> MockReply {
    match failure {
        CallFailure::Unauthorized => said(401, "20003", "Authenticate"),
        CallFailure::NotFound { .. } => not_found(context),
        CallFailure::NoRoute => said(404, "20404", "The requested path was not found"),
        CallFailure::Invalid { field, code, message } => {
            let is_number = code.bytes().all(|byte| byte.is_ascii_digit());
            // Verify's limit on attempts is a limit on rates.
            let status = if *code == "60202" { 429 } else { 400 };
            let message = if is_number { message.clone() } else { format!("{field}: {message}") };
            said(status, if is_number { code } else { "20001" }, &message)
        }
        CallFailure::Declined(decline, _) => said(400, decline.code, decline.message),
        CallFailure::KeyReused { key } => said(400, "20001", &format!("Key {key} was used")),
        CallFailure::TooLarge => said(413, "20413", "Request entity too large"),
        CallFailure::RateLimited { after } => {
            said(429, "20429", "Too Many Requests").with("retry-after", after.to_string())
        }
        CallFailure::Server => said(500, "20500", "Internal Server Error"),
        CallFailure::Unavailable => said(503, "20503", "Service Unavailable"),
    }
}

fn not_found(context: &CallContext<'_>) -> MockReply {
    let message = format!("The requested resource {} was not found", context.call.path);
    said(404, "20404", &message)
}

fn said(status: u16, code: &str, message: &str) -> MockReply {
    let number: u32 = code.parse().unwrap_or(20_001);
    let body = json!({
        "code": number, "message": message, "more_info": format!("{DOCS}/{number}"), "status": status,
    });
    MockReply::json(status, &body)
}

/// An id of 32 hexadecimal digits behind its letters, whose order is that of time.
pub(super) fn new_id(context: &CallContext<'_>, letters: &str) -> String {
    context.chance.hex_id(letters, 32, context.now)
}

/// The mock's own account, whatever the path says.
pub(super) fn account(context: &CallContext<'_>) -> String {
    context.mock.credentials.get("accountSid").cloned().unwrap_or_default()
}

/// A mistake with a code of Twilio's.
pub(super) fn refused(code: &'static str, field: &str, message: &str) -> Halt {
    let (field, message) = (field.to_owned(), message.to_owned());
    CallFailure::Invalid { field, code, message }.into()
}
