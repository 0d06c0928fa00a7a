//! The HTTP listener: bounds on connections, request heads and time, and a drain at shutdown.

mod admission;
mod ask;
mod connection;
mod exchange;
mod forwarded;
mod refusal;
mod request_body;
mod tls;
mod write_timeout;

use std::{sync::Arc, time::Duration};

use axum::{Extension, Router};
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use trapline_api::OverTls;
use trapline_app::{BodyMemory, metrics};
use trapline_worker::outbound::Cidr;

use admission::Admission;
pub(crate) use ask::{HttpAnswer, ask};
use connection::Connection;
use tls::TlsEntrance;

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
    /// Time for a TLS handshake.
    pub handshake: Duration,
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
            handshake: Duration::from_secs(10),
            first_request: Duration::from_secs(10),
            next_request: Duration::from_secs(75),
        }
    }
}

/// Routes, and the bounds on connections, which all listeners of a server share.
pub(crate) struct HttpServer {
    router: Router,
    limits: Arc<Limits>,
    admission: Admission,
    shutdown: CancellationToken,
}

impl HttpServer {
    /// `memory` has a share for each address.
    pub(crate) fn new(
        router: Router,
        limits: Limits,
        memory: BodyMemory,
        shutdown: CancellationToken,
    ) -> Arc<Self> {
        let admission = Admission::new(&limits, memory);
        Arc::new(Self { router, limits: Arc::new(limits), admission, shutdown })
    }

    /// Serves plain HTTP until the shutdown, then lets open requests end; or until the listener breaks.
    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener) {
        self.listen(listener, self.router.clone(), None).await;
    }

    /// Serves HTTP over TLS in the same way. Requests are marked by [`OverTls`].
    pub(crate) async fn serve_tls(self: Arc<Self>, listener: TcpListener, tls: Arc<ServerConfig>) {
        let entrance = TlsEntrance::new(tls, self.limits.handshake);
        let router = self.router.clone().layer(Extension(OverTls));
        self.listen(listener, router, Some(entrance)).await;
    }

    async fn listen(&self, listener: TcpListener, router: Router, tls: Option<TlsEntrance>) {
        let connections = TaskTracker::new();
        while let Some(accepted) = self.shutdown.run_until_cancelled(listener.accept()).await {
            match accepted {
                Ok((stream, peer)) => match self.admission.admit(peer.ip()) {
                    Ok(ticket) => {
                        metrics::http_connection("accepted");
                        let (router, limits) = (router.clone(), self.limits.clone());
                        let end = self.shutdown.clone();
                        let connection = Connection::new(router, limits, end, ticket);
                        self.begin(&connections, connection, stream, tls.clone());
                    }
                    Err(refusal) => {
                        metrics::http_connection(refusal.name());
                        // Over TLS it would take a handshake to say anything.
                        if tls.is_none() {
                            self.admission.refuse(stream);
                        }
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

    /// Serves a connection in a task of its own.
    fn begin(
        &self,
        connections: &TaskTracker,
        connection: Connection,
        stream: TcpStream,
        tls: Option<TlsEntrance>,
    ) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY was not set");
        }
        let Some(tls) = tls else {
            connections.spawn(connection.run(stream));
            return;
        };
        let shutdown = self.shutdown.clone();
        connections.spawn(async move {
            let handshake = Box::pin(tls.accept(stream));
            if let Some(Some(session)) = shutdown.run_until_cancelled(handshake).await {
                connection.run(session).await;
            }
        });
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
