//! What every answer of Airtable has in common.

use serde_json::json;

use crate::{MockReply, context::CallContext, failure::CallFailure};

pub(super) fn finish(reply: &mut MockReply, context: &CallContext<'_>) {
    reply.headers.push(("x-request-id".to_owned(), context.mock.call_id.to_owned()));
}

pub(super) fn error(failure: &CallFailure, _: &CallContext<'_>) -> MockReply {
    match failure {
        CallFailure::Unauthorized => {
            said(401, "AUTHENTICATION_REQUIRED", "Authentication required")
        }
        // Whether a table is there is told to nobody who may not see it.
        CallFailure::NotFound { kind: "tables", .. } => said(
            403,
            "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND",
            "Invalid permissions, or the requested model was not found. Check that both your user and your token \
             have the required permissions, and that the model names and/or ids are correct.",
        ),
        CallFailure::NotFound { .. } | CallFailure::NoRoute => {
            MockReply::json(404, &json!({"error": "NOT_FOUND"}))
        }
        CallFailure::Invalid { field, code: "missing", .. } => {
            let message = format!("Could not find field \"{field}\" in the request body");
            said(422, "INVALID_REQUEST_MISSING_FIELDS", &message)
        }
        CallFailure::Invalid { field, code: "invalid", message } => {
            let message = format!("Invalid request: {field}: {message}");
            said(422, "INVALID_REQUEST_UNKNOWN", &message)
        }
        CallFailure::Invalid { code, message, .. } => said(422, code, message),
        CallFailure::Declined(decline, _) => said(403, decline.code, decline.message),
        CallFailure::KeyReused { key } => said(422, "INVALID_REQUEST_UNKNOWN", key),
        CallFailure::TooLarge => said(413, "REQUEST_TOO_LARGE", "Request body is too large"),
        CallFailure::RateLimited { after } => {
            let message = "Rate limit exceeded. Please try again later";
            let body = json!({"errors": [{"error": "RATE_LIMIT_REACHED", "message": message}]});
            MockReply::json(429, &body).with("retry-after", after.to_string())
        }
        CallFailure::Server => said(500, "SERVER_ERROR", "Internal server error"),
        CallFailure::Unavailable => {
            said(503, "SERVICE_UNAVAILABLE", "The service is temporarily unavailable")
        }
    }
}

fn said(status: u16, kind: &str, message: &str) -> MockReply {
    MockReply::json(status, &json!({"error": {"type": kind, "message": message}}))
}
