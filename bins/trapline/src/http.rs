//! The HTTP listener: bounds on connections, request heads and time, and a drain at shutdown.

mod admission;
mod ask;
mod connection;
mod exchange;
mod forwarded;
mod request_body;
mod write_timeout;

use std::{sync::Arc, time::Duration};

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use trapline_app::{BodyMemory, metrics};
use trapline_worker::outbound::Cidr;

use admission::Admission;
pub(crate) use ask::{HttpAnswer, ask};
use connection::Connection;

/// Bytes of a request's head, beyond which it is 431 (RFC 6585, section 5).
const HEAD_BYTES: usize = 32 * 1024;
/// Bytes that a connection buffers in each direction.
const BUFFER_BYTES: usize = 2 * HEAD_BYTES;
/// The time open requests get at shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// After a failed accept (out of file descriptors), so as not to spin.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Bounds on what clients can make the listener hold.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// Connections at once; the next one gets 503 and is closed.
    pub connections: usize,
    /// Connections at once from one address (for IPv6, one /64).
    pub per_address: usize,
    /// Proxies whose `X-Forwarded-For` names the clients of their requests.
    pub proxy_from: Option<Vec<Cidr>>,
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
            proxy_from: None,
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
    memory: BodyMemory,
    shutdown: CancellationToken,
) {
    let connections = TaskTracker::new();
    let admission = Admission::new(&limits, memory);
    let limits = Arc::new(limits);
    while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, peer)) => match admission.admit(peer.ip()) {
                Ok(ticket) => {
                    metrics::http_connection("accepted");
                    let (router, limits) = (router.clone(), limits.clone());
                    let connection = Connection::new(router, limits, shutdown.clone(), ticket);
                    connections.spawn(connection.run(stream));
                }
                Err(refusal) => {
                    metrics::http_connection(refusal.name());
                    admission.refuse(stream);
                }
            },
            Err(error) if pause_after_failure(&error).await => {}
            Err(_) => return,
        }
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(DRAIN_TIMEOUT, connections.wait()).await.is_err() {
        tracing::warn!("some HTTP requests were cut off");
    }
}

/// Waits a moment after a failed accept. Returns false when the listener is broken.
async fn pause_after_failure(error: &std::io::Error) -> bool {
    tracing::warn!(%error, "an HTTP connection was not accepted");
    let goes_on = !trapline_smtp::is_broken(error);
    if goes_on {
        tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
    }
    goes_on
}

#[cfg(test)]
mod tests;
