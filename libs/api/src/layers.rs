//! What happens around every request, of this router and of those of other packages.

use std::{any::Any, future::ready, time::Duration};

use axum::{
    Router,
    extract::{DefaultBodyLimit, MatchedPath, Request},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
    middleware::{Next, from_fn, map_request, map_response},
    response::{IntoResponse, Response},
};
use tokio::time::{Instant, timeout};
use tower_http::{
    catch_panic::CatchPanicLayer,
    request_id::{MakeRequestUuid, PropagateRequestIdLayer, RequestId, SetRequestIdLayer},
};
use tracing::Instrument;
use trapline_app::{Error as AppError, metrics};

use crate::error::Error;

/// The most bytes that a body may have.
pub(crate) const MAX_BODY: usize = 1024 * 1024;

/// Puts around a router what every router of the service has: the id and the trace of each request,
/// bounds on its URL and its body, an answer where a handler panics, and headers that keep browsers and
/// caches from doing more than they are told. Fallbacks have to be there before.
pub fn secure<S>(routes: Router<S>, policy: ContentPolicy) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    with_policy(routes, policy)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn(check_url))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(security_headers))
        .layer(from_fn(trace_request))
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(map_request(check_id))
}

/// The time in which any request but a wait or a stream is answered.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Bytes of a URL: enough for every filter at its longest, percent signs and all. RFC 9110, section
/// 4.1, asks for 8,000 at least.
const URL_BYTES: usize = 8 * 1024;
/// Characters of a request's id, when it is the client's.
const ID_LENGTH: usize = 128;
static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Drops a request's id that is not fit for logs: it gets one of ours then.
async fn check_id(mut request: Request) -> Request {
    let ids = request.headers().get_all(&REQUEST_ID);
    let is_one = ids.iter().count() <= 1;
    if !is_one || !ids.iter().all(|id| is_fit(id.as_bytes())) {
        request.headers_mut().remove(&REQUEST_ID);
    }
    request
}

/// Refuses URLs that are too long.
async fn check_url(request: Request, next: Next) -> Response {
    let length = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if length > URL_BYTES {
        return Error::UriTooLong.into_response();
    }
    next.run(request).await
}

fn is_fit(id: &[u8]) -> bool {
    let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=@".contains(byte);
    (1..=ID_LENGTH).contains(&id.len()) && id.iter().all(is_safe)
}

/// One span and one measurement per request. Neither holds a query or a key: both have secrets.
async fn trace_request(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = known_method(request.method());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let id = request.extensions().get::<RequestId>().map(|id| id.header_value().clone());
    let span = tracing::info_span!(
        "request",
        http.method = method,
        http.route = route,
        http.path = request.uri().path(),
        request.id = id.as_ref().and_then(|id| id.to_str().ok()),
    );
    let response = next.run(request).instrument(span.clone()).await;
    let (status, took) = (response.status().as_u16(), started.elapsed());
    metrics::http_request(route, method, status, took);
    span.in_scope(|| tracing::debug!(http.status = status, took_ms = took.as_millis(), "answered"));
    response
}

/// Methods are labels of metrics, and anybody can make up new ones.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Headers that keep browsers and caches from doing more than they are told.
async fn security_headers(request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    unless_set(headers, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    if api {
        unless_set(headers, header::CACHE_CONTROL, "no-store");
    }
    response
}

/// The `Content-Security-Policy` of answers that have none of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentPolicy {
    /// No header: for routers whose answers are data, or that say it themselves page by page.
    PerAnswer,
    /// This policy on every answer.
    Fixed(&'static str),
}

/// Adds a policy to the answers of some routes.
pub(crate) fn with_policy<S>(routes: Router<S>, policy: ContentPolicy) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    match policy {
        ContentPolicy::PerAnswer => routes,
        ContentPolicy::Fixed(policy) => {
            routes.layer(map_response(move |mut response: Response| {
                unless_set(response.headers_mut(), header::CONTENT_SECURITY_POLICY, policy);
                ready(response)
            }))
        }
    }
}

fn unless_set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}

/// Ends a request that takes too long.
pub(crate) async fn request_timeout(request: Request, next: Next) -> Response {
    timeout(ANSWER_WITHIN, next.run(request)).await.unwrap_or_else(|_| {
        tracing::warn!("a request took too long");
        Error::from(AppError::Unavailable).into_response()
    })
}

/// The answer to a request whose handler panicked.
#[expect(clippy::needless_pass_by_value, reason = "what the layer calls it with")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = said.unwrap_or("no message"), "a handler panicked");
    Error::Panicked.into_response()
}

/// Methods that a path does not take.
pub(crate) async fn method_not_allowed() -> Error {
    Error::MethodNotAllowed
}
