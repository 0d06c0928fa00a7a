//! The HTTP listener: bounded connections, headers and time, and an end.

mod admission;
mod patience;

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::Router;
use hyper::{body::Incoming, header, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use trapline_app::{AnswerMemory, metrics};

use admission::{Admission, Ticket};
use patience::Patient;

/// Bytes of a request's head, beyond which it is 431 (RFC 6585, section 5).
const HEAD_BYTES: usize = 32 * 1024;
/// Bytes that a connection buffers in each direction.
const BUFFER_BYTES: usize = 2 * HEAD_BYTES;
/// The time open requests get at shutdown.
const DRAIN: Duration = Duration::from_secs(10);
/// After a failed accept (out of file descriptors), so as not to spin.
const PAUSE: Duration = Duration::from_millis(50);

/// Bounds on what clients can make the listener hold.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// Connections at once; the next one gets 503 and is closed.
    pub connections: usize,
    /// Connections at once from one address (for IPv6, one /64).
    pub per_address: usize,
    /// Time in which a client must take some of what is written to it.
    pub write: Duration,
    /// Time for the first request's head.
    pub first_request: Duration,
    /// Time for every other request's head, the silence before it included.
    pub next_request: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 25_000,
            per_address: 20_000,
            write: Duration::from_secs(30),
            first_request: Duration::from_secs(10),
            next_request: Duration::from_secs(75),
        }
    }
}

/// Serves until `shutdown`, then lets open requests end; or until the listener breaks. `memory` has a share for each address.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    memory: AnswerMemory,
    shutdown: CancellationToken,
) {
    let graceful = GracefulShutdown::new();
    let admission = Admission::new(&limits, memory);
    let limits = Arc::new(limits);
    while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, peer)) => match admission.admit(peer.ip()) {
                Ok(ticket) => {
                    metrics::http_connection("accepted");
                    let served =
                        connection(stream, router.clone(), limits.clone(), graceful.watcher());
                    tokio::spawn(served.run(ticket));
                }
                Err(refusal) => {
                    metrics::http_connection(refusal.name());
                    admission.turn_away(stream);
                }
            },
            Err(error) if not_accepted(&error).await => {}
            Err(_) => return,
        }
    }
    drop(listener);
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("some HTTP requests were cut off");
    }
}

/// Waits until the next connection may be accepted, unless the listener is broken.
async fn not_accepted(error: &std::io::Error) -> bool {
    tracing::warn!(%error, "an HTTP connection was not accepted");
    let goes_on = !trapline_smtp::is_broken(error);
    if goes_on {
        tokio::time::sleep(PAUSE).await;
    }
    goes_on
}

struct Connection {
    stream: TcpStream,
    router: Router,
    limits: Arc<Limits>,
    watcher: Watcher,
}

fn connection(
    stream: TcpStream,
    router: Router,
    limits: Arc<Limits>,
    watcher: Watcher,
) -> Connection {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was not set");
    }
    Connection { stream, router, limits, watcher }
}

impl Connection {
    async fn run(self, ticket: Ticket) {
        let Self { stream, router, limits, watcher } = self;
        let begun = Arc::new(AtomicBool::new(false));
        let (client, has_begun) = (ticket.client(), begun.clone());
        let events = Arc::new(AtomicBool::new(false));
        let are_next = events.clone();
        let service = router
            .map_request(move |mut request: hyper::Request<Incoming>| {
                has_begun.store(true, Ordering::Relaxed);
                request.extensions_mut().insert(client.clone());
                request.map(axum::body::Body::new)
            })
            .map_response(move |response: axum::response::Response| {
                let kind = response.headers().get(header::CONTENT_TYPE);
                if kind.is_some_and(|kind| kind == "text/event-stream") {
                    are_next.store(true, Ordering::Relaxed);
                }
                response
            });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.next_request)
            .max_header_size(HEAD_BYTES)
            .max_buf_size(BUFFER_BYTES)
            .serve_connection(
                TokioIo::new(Patient::new(stream, limits.write, events)),
                TowerToHyperService::new(service),
            );
        let connection = pin!(watcher.watch(connection));
        tokio::select! {
            ended = connection => if let Err(error) = ended {
                tracing::debug!(%error, "an HTTP connection broke");
            },
            () = without_request(limits.first_request, &begun) => {
                metrics::http_fault("no_request");
            }
        }
    }
}

/// Returns after `time`, unless a request has begun by then. Whoever speaks another protocol may wait
/// for ever for the server's first word, and a slow sender of a head for its end.
async fn without_request(time: Duration, begun: &AtomicBool) {
    tokio::time::sleep(time).await;
    if begun.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests;
