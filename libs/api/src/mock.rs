//! Where the app under test calls a mock: `/mock/<slug>/…`, with the provider's own paths, bodies and errors.

mod page;
mod ways;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};
use futures_util::{StreamExt as _, stream};
use tokio::time::{sleep, timeout};
use trapline_app::{App, InjectedFault, MockAnswer, MockCall, MockReply, metrics::MockBody};

use crate::{
    body_memory,
    error::Error,
    extract::BODY_TIMEOUT,
    layers::{MAX_BODY, around},
    state::Api,
};

pub(crate) use ways::{by_credential, by_host};

/// How long a call waits that is told to time out.
const TIMEOUT: Duration = Duration::from_mins(1);
/// How long a browser remembers what it may ask.
const PREFLIGHT_AGE: &str = "600";
/// Replies are other people's text on our origin.
const POLICY: &str = "sandbox; default-src 'none'";
const PREFIX: &str = "/mock/";
/// The most bytes of a call that says how many it has: providers take files.
pub(crate) const MAX_CALL: usize = 32 << 20;

/// The addresses of mocks.
pub(crate) fn routes(app: &App) -> Router<Api> {
    Router::new()
        .route("/mock/{slug}", any(call))
        .route("/mock/{slug}/", any(call))
        .route("/mock/{slug}/{*path}", any(call))
        .layer(around(body_memory::count_of_mocks(app)))
}

async fn call(State(app): State<Arc<App>>, request: Request) -> Response {
    let asked = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let mut response = if request.method() == Method::OPTIONS {
        preflight(asked)
    } else {
        answered(&app, request).await.unwrap_or_else(IntoResponse::into_response)
    };
    let headers = response.headers_mut();
    // Pages say themselves what they may do.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    let mut set = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    set(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    set(header::ACCESS_CONTROL_EXPOSE_HEADERS, "*");
    set(crate::layers::CORP, "cross-origin");
    response
}

/// What a page of any site may ask, but in nobody's name.
fn preflight(asked: Option<HeaderValue>) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_AGE));
    if let Some(asked) = asked {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked);
    }
    response
}

async fn answered(app: &App, request: Request) -> Result<Response, Error> {
    let (head, body) = request.into_parts();
    let rest = head.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let (slug, path) = rest.split_once('/').unwrap_or((rest, ""));
    let address = ways::address(&head, &app.settings().base_url, slug);
    if let Some(page) = page::at(slug, path, head.uri.query()) {
        return page::answered(app, page, address, Request::from_parts(head, body)).await;
    }
    let read = timeout(BODY_TIMEOUT, read(body, said(&head.headers)));
    let body = read.await.map_err(|_elapsed| Error::BodyTimeout)?;
    let _counted = MockBody::of(body.as_ref().map_or(0, Vec::len));
    let call = MockCall {
        method: head.method.as_str().to_owned(),
        path: format!("/{path}"),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: texts(&head.headers),
        is_cut: body.is_none(),
        body: body.unwrap_or_default(),
    };
    let answer = app.mocks().answer(slug, address, call).await.map_err(|error| match error {
        trapline_app::Error::NotFound => Error::NoSuchMock,
        error => error.into(),
    })?;
    Ok(given(app, answer).await)
}

/// How long the client says that its body is.
fn said(headers: &HeaderMap) -> usize {
    let said = headers.get(header::CONTENT_LENGTH);
    said.and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or_default()
}

/// Reads a body into one buffer, so that a large one is in memory once; `None` when it breaks off or is longer than a
/// call may be. The provider says how many bytes it takes.
async fn read(body: Body, said: usize) -> Option<Vec<u8>> {
    let most = if said > MAX_BODY { MAX_CALL } else { MAX_BODY };
    let (mut bytes, mut frames) = (Vec::with_capacity(said.min(most)), body.into_data_stream());
    while let Some(frame) = frames.next().await {
        let frame = frame.ok().filter(|frame| frame.len() <= most - bytes.len())?;
        bytes.extend_from_slice(&frame);
    }
    Some(bytes)
}

/// Headers as text; what is no text is left out.
fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |(name, value): (&HeaderName, &HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    headers.iter().filter_map(text).collect()
}

async fn given(app: &App, answer: MockAnswer) -> Response {
    let wait = match answer.injected {
        Some(InjectedFault::Timeout) => answer.delay + TIMEOUT,
        _ => answer.delay,
    };
    if !wait.is_zero() {
        app.shutdown().run_until_cancelled(sleep(wait)).await;
    }
    match answer.injected {
        Some(InjectedFault::Timeout | InjectedFault::Reset) => broken(),
        Some(InjectedFault::Malformed) => written(halved(answer.reply)),
        None => written(answer.reply),
    }
}

fn written(reply: MockReply) -> Response {
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    for (name, value) in reply.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

fn halved(reply: MockReply) -> MockReply {
    let half = reply.body.len() / 2;
    let end = (0..=half).rev().find(|end| reply.body.is_char_boundary(*end)).unwrap_or(0);
    MockReply { body: reply.body[..end].to_owned(), ..reply }
}

/// An answer whose body breaks off with its connection before the first byte.
fn broken() -> Response {
    let end = Err::<Bytes, _>(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
    Response::new(Body::from_stream(stream::iter([end])))
}
