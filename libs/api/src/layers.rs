//! What happens around every request, of this router and of those of other packages.

mod around;

use std::{any::Any, time::Duration};

use axum::{
    Router,
    extract::{DefaultBodyLimit, MatchedPath, Request},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
    response::{IntoResponse, Response},
};
use futures_util::FutureExt as _;
use tokio::time::{Instant, timeout};
use tower::util::{MapRequestLayer, MapResponseLayer};
use tower_http::{
    catch_panic::CatchPanicLayer,
    request_id::{MakeRequestUuid, PropagateRequestIdLayer, RequestId, SetRequestIdLayer},
};
use tracing::{Instrument, Span};
use trapline_app::{Error as AppError, metrics};

use crate::{deferred, error::Error};
pub use around::ResponseFuture;
pub(crate) use around::{Next, around, immediate};

/// The most bytes that a body may have.
pub(crate) const MAX_BODY: usize = 1024 * 1024;

/// Puts around a router what every router of the service has: the id and the trace of each request,
/// bounds on its URL and its body, an answer where a handler panics, and headers that keep browsers and
/// caches from doing more than they are told. Fallbacks have to be there before.
pub fn secure<S>(routes: Router<S>, policy: ContentPolicy) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    // One layer to axum, which boxes what is inside of each.
    with_policy(routes, policy).layer((
        MapRequestLayer::new(check_id),
        SetRequestIdLayer::x_request_id(MakeRequestUuid),
        PropagateRequestIdLayer::x_request_id(),
        around(trace_request),
        around(guard),
        CatchPanicLayer::custom(panicked),
        DefaultBodyLimit::max(MAX_BODY),
    ))
}

/// The time in which any request but a wait or a stream is answered.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of a URL: enough for every filter at its longest, percent signs and all. RFC 9110, section
/// 4.1, asks for 8,000 at least.
const URL_BYTES: usize = 8 * 1024;
/// Characters of a request's id, when it is the client's.
const ID_LENGTH: usize = 128;
/// Who may load an answer into a page (Fetch standard, section 3.7).
pub(crate) const CORP: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Drops a request's id that is not fit for logs: it gets one of ours then. One that stays is copied, or it
/// would keep the connection's buffer as long as the request.
fn check_id(mut request: Request) -> Request {
    let ids = request.headers().get_all(&REQUEST_ID);
    let mut ids = ids.iter().map(HeaderValue::as_bytes);
    let Some(first) = ids.next() else { return request };
    let is_one = ids.next().is_none() && is_fit(first);
    match HeaderValue::from_bytes(first).ok().filter(|_| is_one) {
        Some(copy) => request.headers_mut().insert(&REQUEST_ID, copy),
        None => request.headers_mut().remove(&REQUEST_ID),
    };
    request
}

fn is_fit(id: &[u8]) -> bool {
    let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=@".contains(byte);
    (1..=ID_LENGTH).contains(&id.len()) && id.iter().all(is_safe)
}

/// One span and one measurement per request. Neither holds a query or a key: both have secrets.
fn trace_request(request: Request, next: Next) -> ResponseFuture {
    let trace = Trace::of(&request);
    let work = trace.span.in_scope(|| next.run(request)).instrument(trace.span.clone());
    Box::pin(async move {
        let mut response = work.await;
        match deferred::take(&mut response) {
            None => trace.answered(&response),
            Some(work) => {
                let work = work.instrument(trace.span.clone());
                let work = work.inspect(move |response| trace.answered(response));
                deferred::put(&mut response, Box::pin(work));
            }
        }
        response
    })
}

/// What is told of a request.
struct Trace {
    started: Instant,
    method: &'static str,
    route: Option<MatchedPath>,
    span: Span,
}

impl Trace {
    fn of(request: &Request) -> Self {
        let method = known_method(request.method());
        let route = request.extensions().get::<MatchedPath>().cloned();
        let id = request.extensions().get::<RequestId>().map(|id| id.header_value().clone());
        let span = tracing::info_span!(
            "request",
            http.method = method,
            http.route = name(route.as_ref()),
            http.path = request.uri().path(),
            request.id = id.as_ref().and_then(|id| id.to_str().ok()),
        );
        Self { started: Instant::now(), method, route, span }
    }

    fn answered(&self, response: &Response) {
        let (status, took) = (response.status().as_u16(), self.started.elapsed());
        metrics::http_request(name(self.route.as_ref()), self.method, status, took);
        self.span.in_scope(|| {
            tracing::debug!(http.status = status, took_ms = took.as_millis(), "answered");
        });
    }
}

fn name(route: Option<&MatchedPath>) -> &str {
    route.map_or("none", MatchedPath::as_str)
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

/// Refuses URLs that are too long, and sends headers that keep browsers and caches from doing more than
/// they are told.
fn guard(request: Request, next: Next) -> ResponseFuture {
    let length = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let api = request.uri().path().starts_with("/api");
    let work = if length > URL_BYTES { immediate(Error::UriTooLong) } else { next.run(request) };
    Box::pin(work.map(move |mut response| {
        let headers = response.headers_mut();
        unless_set(headers, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        // Pages of other sites show nothing of a server at which nobody signs in, and learn nothing by it.
        unless_set(headers, CORP, "same-origin");
        if api {
            unless_set(headers, header::CACHE_CONTROL, "no-store");
        }
        response
    }))
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
            routes.layer(MapResponseLayer::new(move |mut response: Response| {
                unless_set(response.headers_mut(), header::CONTENT_SECURITY_POLICY, policy);
                response
            }))
        }
    }
}

/// Has browsers come by https alone for a year from each answer on (RFC 6797), to this host and none below it.
pub(crate) fn with_hsts<S>(routes: Router<S>) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    routes.layer(MapResponseLayer::new(|mut response: Response| {
        let headers = response.headers_mut();
        unless_set(headers, header::STRICT_TRANSPORT_SECURITY, "max-age=31536000");
        response
    }))
}

fn unless_set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}

/// Ends a request that takes too long.
pub(crate) fn request_timeout(request: Request, next: Next) -> ResponseFuture {
    let answer = timeout(REQUEST_TIMEOUT, next.run(request));
    Box::pin(answer.map(|answer| {
        answer.unwrap_or_else(|_| {
            tracing::warn!("a request took too long");
            Error::from(AppError::Unavailable).into_response()
        })
    }))
}

/// The answer to a request whose handler panicked.
#[expect(clippy::needless_pass_by_value, reason = "what the layer calls it with")]
pub(crate) fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = said.unwrap_or("no message"), "a handler panicked");
    Error::Panicked.into_response()
}

/// Methods that a path does not take.
pub(crate) async fn method_not_allowed() -> Error {
    Error::MethodNotAllowed
}
