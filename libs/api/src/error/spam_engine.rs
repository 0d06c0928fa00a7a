//! What a client is told of a spam engine that has no answer.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use trapline_app::SpamEngineFailure;

/// A spam engine has no answer, or the service is not available.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = SpamEngineUnavailable)]
pub(crate) struct SpamEngineBody {
    /// Human-readable; wording may change between releases.
    #[schema(example = "The spam engine spamd has no answer; try again")]
    error: String,
    /// A stable word for programs.
    #[schema(example = "spam_engine_unavailable")]
    code: &'static str,
    /// Which engine it is.
    #[schema(example = "spamd")]
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<&'static str>,
    /// Why: `unreachable`, `timeout`, `bad_answer` or `busy`.
    #[schema(example = "timeout")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

pub(super) fn answer(engine: &'static str, failure: SpamEngineFailure) -> Response {
    let body = SpamEngineBody {
        error: format!("The spam engine {engine} has no answer; try again"),
        code: "spam_engine_unavailable",
        engine: Some(engine),
        reason: Some(failure.code()),
    };
    let mut answer = (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response();
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    answer
}
