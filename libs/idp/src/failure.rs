//! What an endpoint answers when something is wrong, as JSON (RFC 6749, section 5.2).

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;
use trapline_app::Error;

/// A request that is not answered as it hoped.
#[derive(Debug)]
pub(crate) enum EndpointFailure {
    /// There is no such provider.
    NotFound,
    /// The body is over what the service takes.
    TooLarge,
    /// Not now.
    Unavailable,
    /// The provider's allowance of requests is used up; there is more after so long.
    TooMany(Duration),
    /// A fault of ours.
    Internal,
    /// The protocol's own refusal.
    Refused(OauthRefusal),
}

/// A refusal with a code of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OauthRefusal {
    /// The code of its RFC.
    pub(crate) code: &'static str,
    /// What was expected and what came.
    pub(crate) hint: String,
}

impl OauthRefusal {
    pub(crate) fn new(code: &'static str, hint: impl Into<String>) -> Self {
        Self { code, hint: hint.into() }
    }

    fn status(&self) -> StatusCode {
        match self.code {
            "invalid_client" | "invalid_token" => StatusCode::UNAUTHORIZED,
            "insufficient_scope" => StatusCode::FORBIDDEN,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// How the client is asked to show who it is.
    fn challenge(&self) -> Option<String> {
        let bearer = |code| Some(format!("Bearer error=\"{code}\""));
        match self.code {
            // RFC 6749, section 5.2.
            "invalid_client" => Some("Basic realm=\"token\"".to_owned()),
            // RFC 6750, section 3.1.
            "invalid_token" | "insufficient_scope" => bearer(self.code),
            _ => None,
        }
    }
}

impl From<OauthRefusal> for EndpointFailure {
    fn from(refusal: OauthRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for EndpointFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound => Self::NotFound,
            Error::Conflict => Self::Unavailable,
            error if error.is_outage() => {
                tracing::warn!(%error, "a mock identity provider has no backend");
                Self::Unavailable
            }
            error => {
                tracing::error!(%error, "a mock identity provider failed");
                Self::Internal
            }
        }
    }
}

impl IntoResponse for EndpointFailure {
    fn into_response(self) -> Response {
        let body = |code: &str| Json(json!({ "error": code }));
        let mut answer = match self {
            Self::NotFound => (StatusCode::NOT_FOUND, body("not_found")).into_response(),
            Self::TooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, body("invalid_request")).into_response()
            }
            Self::Unavailable => {
                let again = [(header::RETRY_AFTER, "1")];
                let body = body("temporarily_unavailable");
                (StatusCode::SERVICE_UNAVAILABLE, again, body).into_response()
            }
            Self::TooMany(wait) => {
                let again =
                    [(header::RETRY_AFTER, wait.as_millis().div_ceil(1_000).max(1).to_string())];
                let body = body("temporarily_unavailable");
                (StatusCode::TOO_MANY_REQUESTS, again, body).into_response()
            }
            Self::Internal => {
                (StatusCode::INTERNAL_SERVER_ERROR, body("server_error")).into_response()
            }
            Self::Refused(refusal) => {
                let body =
                    json!({ "error": refusal.code, "error_description": visible(&refusal.hint) });
                let mut answer = (refusal.status(), Json(body)).into_response();
                let challenge = refusal.challenge().and_then(|it| HeaderValue::try_from(it).ok());
                if let Some(challenge) = challenge {
                    answer.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
                }
                answer
            }
        };
        answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }
}

/// A text as `error_description` may have it (RFC 6749, section 5.2).
pub(crate) fn visible(text: &str) -> String {
    let is_taken = |letter: char| matches!(letter, ' '..='~') && letter != '"' && letter != '\\';
    text.chars().map(|letter| if is_taken(letter) { letter } else { '\'' }).collect()
}

#[cfg(test)]
mod tests {
    use trapline_store::PortError;

    use super::*;

    #[test]
    fn what_may_work_later_is_told_apart_from_faults() {
        let cases = [
            (Error::NotFound, 404),
            (Error::Conflict, 503),
            (Error::Unavailable, 503),
            (Error::StorageFull, 503),
            (PortError::Conflict.into(), 503),
            (PortError::Timeout.into(), 503),
            (PortError::StorageFull.into(), 503),
            (PortError::Unavailable("the connection was reset".into()).into(), 503),
            (PortError::Damaged("segment".to_owned()).into(), 500),
            (PortError::Misuse("a batch over two partitions").into(), 500),
            (Error::WrongMasterKey, 500),
            (Error::Crypto, 500),
        ];
        for (error, status) in cases {
            let told = format!("{error:?}");
            let answer = EndpointFailure::from(error).into_response();
            assert_eq!(answer.status().as_u16(), status, "{told}");
            assert_eq!(answer.headers().contains_key(header::RETRY_AFTER), status == 503, "{told}");
        }
    }
}
