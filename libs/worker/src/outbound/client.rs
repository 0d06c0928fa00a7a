//! The HTTP client for addresses that users give.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, header::RETRY_AFTER};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{
        self,
        connect::{CaptureConnection, capture_connection},
    },
    rt::{TokioExecutor, TokioTimer},
};
use rustls::pki_types::CertificateDer;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::{
    Guard, OutboundFailure, Response, RetryAfter, TimedResponse, connect::Connector, roots,
    wire::Budget,
};

/// The longest head of an answer, and the longest part of its body that is read.
const MAX_HEAD_BYTES: usize = 32 * 1024;
const MAX_BODY_BYTES: usize = 16 * 1024;
/// As many as call one webhook at a time; with fewer a busy one would connect anew again and again.
const IDLE_PER_HOST: usize = 4;
/// Also how long a name that moved is still reached at its old address, which was checked.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
#[error("a certificate authority cannot be used: {0}")]
pub struct ClientError(#[from] rustls::Error);

/// An HTTP/1.1 client that connects to nothing but what its [`Guard`] allows. Clones share their
/// connections.
#[derive(Clone)]
pub struct Client {
    guard: Guard,
    http: legacy::Client<Connector, Full<Bytes>>,
}

impl Client {
    /// Trusts the system's certificate authorities, or Mozilla's where the system has none, and
    /// `extra_roots`.
    pub fn new(guard: Guard, extra_roots: &[CertificateDer<'static>]) -> Result<Self, ClientError> {
        let tls = roots::config(extra_roots)?;
        let connector = Connector { guard: guard.clone(), tls, open: Arc::new(()) };
        let http = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .http1_max_buf_size(MAX_HEAD_BYTES)
            .build(connector);
        Ok(Self { guard, http })
    }

    /// Sends a POST and waits for the status. `deadline` holds for everything together: resolving,
    /// connecting, TLS, writing, the status line, and reading what of the body lets the connection be
    /// used again (16 KiB). Nothing is followed or sent twice.
    pub async fn post(
        &self,
        url: &Url,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
        deadline: Duration,
    ) -> TimedResponse {
        let began = Instant::now();
        let until = began + deadline;
        let head = self.head(url, headers, body, until).await;
        let took = began.elapsed();
        let outcome = match head {
            Ok((head, connection)) => Ok(finish(head, &connection, until).await),
            Err(failure) => Err(failure),
        };
        TimedResponse { took, outcome }
    }

    async fn head(
        &self,
        url: &Url,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
        until: Instant,
    ) -> Result<(http::Response<Incoming>, CaptureConnection), OutboundFailure> {
        self.guard.check(url)?;
        let mut request = request(url, headers, body)?;
        let connection = capture_connection(&mut request);
        match timeout_at(until, self.http.request(request)).await {
            // Nobody asked to switch protocols.
            Ok(Ok(head)) if head.status() == StatusCode::SWITCHING_PROTOCOLS => {
                Err(OutboundFailure::Reset)
            }
            Ok(Ok(head)) => Ok((head, connection)),
            Ok(Err(error)) => Err(OutboundFailure::behind(&error)),
            Err(_) if connection.connection_metadata().is_some() => Err(OutboundFailure::Timeout),
            Err(_) => Err(OutboundFailure::ConnectTimeout),
        }
    }
}

fn request(
    url: &Url,
    headers: &[(HeaderName, HeaderValue)],
    body: Bytes,
) -> Result<Request<Full<Bytes>>, OutboundFailure> {
    let mut request = Request::builder().method(Method::POST).uri(url.as_str());
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(Full::new(body)).map_err(|_| OutboundFailure::AddressNotAllowed)
}

/// Reads the rest of an answer whose status is known; a body that breaks off, or does not end, changes
/// nothing about it.
async fn finish(
    head: http::Response<Incoming>,
    connection: &CaptureConnection,
    until: Instant,
) -> Response {
    let response = Response {
        status: head.status().as_u16(),
        retry_after: head.headers().get(RETRY_AFTER).and_then(RetryAfter::parse),
    };
    let budget = head.extensions().get::<Budget>().cloned();
    let mut body = head.into_body();
    let ended = timeout_at(until, skip(&mut body)).await.unwrap_or(false);
    match budget.filter(|_| ended) {
        Some(budget) => budget.refill(),
        // Before the body goes: hyper may yet read what is left of it, and keep the connection.
        None => retire(connection),
    }
    response
}

fn retire(connection: &CaptureConnection) {
    if let Some(connected) = connection.connection_metadata().as_ref() {
        connected.poison();
    }
}

/// Whether the body ended within its bound.
async fn skip(body: &mut Incoming) -> bool {
    let mut left = MAX_BODY_BYTES;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let length = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}
