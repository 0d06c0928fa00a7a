//! What goes wrong, as the client sees it: the one place that gives an error its status code.

mod body;
mod spam_engine;
mod sso;

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use trapline_app::{
    Error as AppError, Fault, Forbidden, Issue, PlanLimit, PortError, Unauthenticated,
};
use trapline_model::NearMiss;

pub(crate) use body::{ErrorBody, IssueBody, PlanBody, ValidationErrorBody, WaitTimeoutBody};
pub(crate) use spam_engine::SpamEngineBody;
pub(crate) use sso::of_sso;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum Error {
    /// A use case said so.
    App(AppError),
    /// The body is over the limit.
    TooLarge,
    /// The body does not come to an end in time.
    BodyTimeout,
    /// The URL is over the limit.
    UriTooLong,
    /// The body is not announced as JSON.
    UnsupportedMediaType,
    /// There is no such path; that one may have been meant.
    NoSuchPath(Option<String>),
    /// No mock has the address, or its time is over.
    NoSuchMock,
    /// The path is known, but not with this method. The router adds `Allow`.
    MethodNotAllowed,
    /// No message came in time; these missed by one filter.
    WaitTimeout(Vec<NearMiss>),
    /// The metrics token is missing or wrong, or none is configured.
    MetricsToken,
    /// A handler panicked; the panic is logged where it is caught.
    Panicked,
    /// A handler wants a body or parameters that its operation's description does not have.
    Undescribed,
}

impl<E: Into<AppError>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::App(error.into())
    }
}

impl Error {
    /// One wrong field.
    pub(crate) fn invalid(path: &str, code: &'static str, message: impl Into<String>) -> Self {
        Self::App(AppError::invalid(path, code, message))
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        match self {
            Self::App(error) => of_app(error),
            Self::TooLarge => {
                plain(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large", "payload_too_large")
            }
            Self::BodyTimeout => {
                let error = "The body did not come in time";
                let answer = plain(StatusCode::REQUEST_TIMEOUT, error, "request_timeout");
                // What comes of it yet is nobody's (RFC 9110, section 15.5.9).
                with(answer, header::CONNECTION, HeaderValue::from_static("close"))
            }
            Self::UriTooLong => {
                plain(StatusCode::URI_TOO_LONG, "The URL is too long", "uri_too_long")
            }
            Self::UnsupportedMediaType => plain(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "The body must be sent as application/json",
                "unsupported_media_type",
            ),
            Self::NoSuchPath(nearest) => no_such_path(nearest),
            Self::NoSuchMock => {
                plain(StatusCode::NOT_FOUND, "There is no mock at this address", "mock_not_found")
            }
            Self::MethodNotAllowed => plain(
                StatusCode::METHOD_NOT_ALLOWED,
                "This path does not take this method",
                "method_not_allowed",
            ),
            Self::WaitTimeout(near_misses) => {
                let error = "No matching message arrived in time";
                let body = WaitTimeoutBody { error, code: "wait_timeout", near_misses };
                (StatusCode::REQUEST_TIMEOUT, Json(body)).into_response()
            }
            Self::MetricsToken => {
                unauthorized("The metrics token is missing or wrong", "invalid_metrics_token", true)
            }
            Self::Panicked => internal(),
            Self::Undescribed => {
                tracing::error!("a handler wants more than its operation takes");
                internal()
            }
        }
    }
}

fn of_app(error: AppError) -> Response {
    match error {
        AppError::Invalid(issues) => invalid(issues),
        AppError::Unauthenticated(why) => unauthenticated(why),
        AppError::Forbidden(why) => forbidden(why),
        AppError::NotFound => plain(StatusCode::NOT_FOUND, "Not found", "not_found"),
        AppError::Conflict => plain(
            StatusCode::CONFLICT,
            "Somebody else changed this at the same moment; try again",
            "conflict",
        ),
        AppError::TooMany { retry_after } => {
            let answer = plain(StatusCode::TOO_MANY_REQUESTS, "Too many requests", "rate_limited");
            with(answer, header::RETRY_AFTER, whole_seconds(retry_after).into())
        }
        AppError::TooManyStreams { of_team } => {
            let error = if of_team {
                "Your team has as many waits and event streams open as it may have; end some, or try again"
            } else {
                "As many waits and event streams are open as this process holds; try again"
            };
            let answer = plain(StatusCode::TOO_MANY_REQUESTS, error, "rate_limited");
            with(answer, header::RETRY_AFTER, HeaderValue::from_static("1"))
        }
        AppError::TooManyInboxes { most, retry_after } => {
            let error = format!("Too many new inboxes: a team may make {most} a minute");
            let answer = plain(StatusCode::TOO_MANY_REQUESTS, &error, "rate_limited");
            with(answer, header::RETRY_AFTER, whole_seconds(retry_after).into())
        }
        AppError::QuotaExceeded { limit, most, upgrade_url } => {
            let error = quota_exceeded(limit, most);
            plan_refused(error, "quota_exceeded", limit.name(), upgrade_url.as_deref())
        }
        AppError::FeatureUnavailable { feature, upgrade_url } => {
            let error = format!("Your team's plan does not include {feature}");
            plan_refused(error, "feature_unavailable", feature.name(), upgrade_url.as_deref())
        }
        AppError::Sso(problem) => {
            let (status, code) = of_sso(&problem);
            plain(status, &sentence(&problem.to_string()), code)
        }
        AppError::OutboundDisabled => plain(
            StatusCode::CONFLICT,
            "No mail was sent: this server sends none, as its operator has configured no relay",
            "outbound_disabled",
        ),
        AppError::SpamEngine { engine, failure } => spam_engine::answer(engine, failure),
        AppError::ChecksDisabled => plain(
            StatusCode::CONFLICT,
            "This server asks nobody about messages: its operator has switched that off (--outgoing-checks off)",
            "checks_disabled",
        ),
        AppError::Internal(Fault { source: PortError::Unavailable(source), at }) => {
            tracing::error!(error = %source, %at, "a backend does not answer");
            of_app(AppError::Unavailable)
        }
        AppError::Unavailable => {
            let error = "The service is not available right now; try again";
            let answer = plain(StatusCode::SERVICE_UNAVAILABLE, error, "unavailable");
            with(answer, header::RETRY_AFTER, HeaderValue::from_static("1"))
        }
        AppError::StorageFull => {
            let error = "The disk that holds the data is full; what frees room still works";
            let answer = plain(StatusCode::SERVICE_UNAVAILABLE, error, "storage_full");
            with(answer, header::RETRY_AFTER, HeaderValue::from_static("10"))
        }
        AppError::Damaged(_) => {
            let error = "The stored bytes of this message are missing or damaged";
            plain(StatusCode::INTERNAL_SERVER_ERROR, error, "damaged")
        }
        error @ (AppError::WrongMasterKey | AppError::Crypto) => {
            tracing::error!(%error, "a request failed");
            internal()
        }
        AppError::Internal(fault) => {
            tracing::error!(error = %fault.source, at = %fault.at, "a request failed");
            internal()
        }
    }
}

fn plan_refused(
    error: String,
    code: &'static str,
    limit: &'static str,
    upgrade_url: Option<&str>,
) -> Response {
    let body = PlanBody { error, code, limit, upgrade_url: upgrade_url.map(str::to_owned) };
    (StatusCode::PAYMENT_REQUIRED, Json(body)).into_response()
}

fn quota_exceeded(limit: PlanLimit, most: u64) -> String {
    let what = match limit {
        PlanLimit::Inboxes => "inboxes",
        PlanLimit::MessagesPerMonth => "messages a month",
        PlanLimit::MessagesPerInbox => "messages in an inbox",
        PlanLimit::MessageBytes => "bytes in a message",
        PlanLimit::RetentionDays => "days of retention",
        PlanLimit::Members => "members",
    };
    format!("Your team's plan allows {most} {what}")
}

/// The most that an answer tells of what is wrong, and of a name that the client made up.
const MAX_ISSUES: usize = 50;
const MAX_PATH_CHARS: usize = 100;

fn invalid(issues: Vec<Issue>) -> Response {
    let issues = issues.into_iter().take(MAX_ISSUES).map(|Issue { path, code, message }| {
        let path = path.chars().take(MAX_PATH_CHARS).collect();
        IssueBody { path, code, message }
    });
    let body = ValidationErrorBody {
        error: "Invalid request",
        code: "invalid_request",
        issues: issues.collect(),
    };
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

fn unauthenticated(why: Unauthenticated) -> Response {
    match why {
        Unauthenticated::Missing => unauthorized(
            "An API key is needed: Authorization: Bearer tl_…; or somebody who is signed in",
            "missing_api_key",
            false,
        ),
        Unauthenticated::Unknown => unauthorized("Unknown API key", "unknown_api_key", true),
        Unauthenticated::Expired => {
            unauthorized("The API key has expired", "api_key_expired", true)
        }
        Unauthenticated::SessionOver => {
            unauthorized("The session has ended: sign in again", "session_over", false)
        }
        Unauthenticated::WrongPassword => plain(
            StatusCode::UNAUTHORIZED,
            "Nobody has this address and password",
            "wrong_password",
        ),
    }
}

/// 401 with the challenge of RFC 6750, section 3.
fn unauthorized(error: &str, code: &'static str, token_sent: bool) -> Response {
    let challenge = if token_sent { "Bearer error=\"invalid_token\"" } else { "Bearer" };
    let answer = plain(StatusCode::UNAUTHORIZED, error, code);
    with(answer, header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}

fn forbidden(why: Forbidden) -> Response {
    let (error, code) = match why {
        Forbidden::ReadOnlyKey => ("This API key may only read", "read_only_key"),
        Forbidden::BadSignature => ("This URL is not valid, or no longer", "bad_signature"),
        Forbidden::CrossSite => ("A page of another site sent this", "cross_site"),
        Forbidden::UnknownHost => (
            "Without sign-in this server answers only by localhost, an IP address or the name of its base URL",
            "unknown_host",
        ),
        Forbidden::SsoRequired => {
            ("Your team wants you to sign in by its single sign-on", "sso_required")
        }
        Forbidden::OwnerStays => {
            ("The owner of a team hands it over before leaving it", "owner_stays")
        }
        Forbidden::FirstTeam => ("The first team of a server cannot be deleted", "first_team"),
        Forbidden::SignUpOff => ("Nobody may sign up at this server", "sign_up_off"),
        Forbidden::TeamRequired => ("You are in no team", "team_required"),
        Forbidden::PersonRequired => ("A person must be signed in for this", "person_required"),
        Forbidden::AdminRequired => {
            ("A signed-in admin of the team must do this", "admin_required")
        }
        Forbidden::OwnerRequired => {
            ("The signed-in owner of the team must do this", "owner_required")
        }
    };
    plain(StatusCode::FORBIDDEN, error, code)
}

/// Words that begin with a capital letter.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn no_such_path(nearest: Option<String>) -> Response {
    let hint = nearest.map_or_else(
        || "/docs shows every path".to_owned(),
        |nearest| format!("the nearest is {nearest}"),
    );
    let error = format!("There is no such path; {hint}");
    plain(StatusCode::NOT_FOUND, &error, "no_such_path")
}

fn internal() -> Response {
    plain(StatusCode::INTERNAL_SERVER_ERROR, "Internal error", "internal")
}

fn plain(status: StatusCode, error: &str, code: &'static str) -> Response {
    (status, Json(ErrorBody { error: error.to_owned(), code })).into_response()
}

fn with(mut response: Response, name: HeaderName, value: HeaderValue) -> Response {
    response.headers_mut().insert(name, value);
    response
}

/// Seconds as `Retry-After` counts them: never zero, never too early.
pub(crate) fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests;
