//! What every answer of Segment has in common.

use serde_json::json;

use crate::{MockReply, context::CallContext, failure::CallFailure};

pub(super) fn finish(reply: &mut MockReply, context: &CallContext<'_>) {
    reply.headers.push(("x-request-id".to_owned(), context.mock.call_id.to_owned()));
}

pub(super) fn error(failure: &CallFailure, _: &CallContext<'_>) -> MockReply {
    match failure {
        CallFailure::Unauthorized => said(401, "invalid_write_key", "The write key is not valid."),
        CallFailure::NotFound { id, .. } => said(404, "not_found", &format!("{id} was not found")),
        CallFailure::NoRoute => said(404, "not_found", "There is no such path."),
        CallFailure::Invalid { field, message, .. } => {
            said(400, "invalid_request", &format!("{field}: {message}"))
        }
        CallFailure::Declined(decline, _) => said(400, decline.code, decline.message),
        CallFailure::KeyReused { key } => said(400, "invalid_request", &format!("used: {key}")),
        CallFailure::TooLarge => said(413, "payload_too_large", "The request is too large."),
        CallFailure::RateLimited { after } => {
            said(429, "rate_limited", "Too many requests.").with("retry-after", after.to_string())
        }
        CallFailure::Server => said(500, "server_error", "Internal server error."),
        CallFailure::Unavailable => said(503, "unavailable", "Temporarily unavailable."),
    }
}

fn said(status: u16, code: &str, message: &str) -> MockReply {
    MockReply::json(status, &json!({"success": false, "code": code, "message": message}))
}
