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
use rustls::{ClientConfig, pki_types::CertificateDer};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::{
    Guard, OutboundFailure, RetryAfter, bounded_connection::Budget, connect::Connector, tls,
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

/// Outcome of a request, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedResponse {
    /// From the start to the status line, or to the failure.
    pub took: Duration,
    /// What came back. A status that is no success is a response too.
    pub outcome: Result<Response, OutboundFailure>,
}

/// The head of an HTTP answer. The body is not read: whoever names an address could otherwise see
/// what is behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// 200 to 999.
    pub status: u16,
    /// When the receiver wants the next try (RFC 9110, section 10.2.3).
    pub retry_after: Option<RetryAfter>,
}

impl TimedResponse {
    /// The status, if there was an answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.outcome.ok().map(|response| response.status)
    }
}

/// An HTTP/1.1 client that connects to nothing but what its [`Guard`] allows. Clones share their
/// connections.
#[derive(Clone)]
pub struct Client {
    guard: Guard,
    tls: Arc<ClientConfig>,
    http: legacy::Client<Connector, Full<Bytes>>,
}

impl Client {
    /// Trusts the system's certificate authorities, or Mozilla's where the system has none, and
    /// `extra_roots`.
    pub fn new(guard: Guard, extra_roots: &[CertificateDer<'static>]) -> Result<Self, ClientError> {
        Ok(Self::with_tls(guard, tls::client_config(extra_roots)?))
    }

    fn with_tls(guard: Guard, tls: Arc<ClientConfig>) -> Self {
        let connector =
            Connector { guard: guard.clone(), tls: tls.clone(), connections: Arc::new(()) };
        let http = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .http1_max_buf_size(MAX_HEAD_BYTES)
            .build(connector);
        Self { guard, tls, http }
    }

    /// Another client with the same authorities, which connects to what another guard allows.
    pub(crate) fn guarded_by(&self, guard: Guard) -> Self {
        Self::with_tls(guard, self.tls.clone())
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
        let sent = match request(url, headers, body) {
            Ok(request) => self.send(url, request, until).await,
            Err(failure) => Err(failure),
        };
        let took = began.elapsed();
        let outcome = match sent {
            Ok((head, connection)) => Ok(drain(head, &connection, until).await),
            Err(failure) => Err(failure),
        };
        TimedResponse { took, outcome }
    }

    /// Sends a request to this address and waits for the head of the answer.
    pub(super) async fn send(
        &self,
        url: &Url,
        mut request: Request<Full<Bytes>>,
        until: Instant,
    ) -> Result<(http::Response<Incoming>, CaptureConnection), OutboundFailure> {
        self.guard.check(url)?;
        let connection = capture_connection(&mut request);
        match timeout_at(until, self.http.request(request)).await {
            // Nobody asked to switch protocols.
            Ok(Ok(head)) if head.status() == StatusCode::SWITCHING_PROTOCOLS => {
                Err(OutboundFailure::Reset)
            }
            Ok(Ok(head)) => Ok((head, connection)),
            Ok(Err(error)) => Err(OutboundFailure::of_client_error(&error)),
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
pub(super) async fn drain(
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
    let ended = timeout_at(until, drain_body(&mut body)).await.unwrap_or(false);
    match budget.filter(|_| ended) {
        Some(budget) => budget.refill(),
        // Before the body goes: hyper may yet read what is left of it, and keep the connection.
        None => forbid_reuse(connection),
    }
    response
}

pub(super) fn forbid_reuse(connection: &CaptureConnection) {
    if let Some(connected) = connection.connection_metadata().as_ref() {
        connected.poison();
    }
}

/// Whether the body ended within its bound.
async fn drain_body(body: &mut Incoming) -> bool {
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
