//! The HTTP listener: bounded headers and time, and an end.

use std::{pin::pin, time::Duration};

use axum::Router;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// The time a client has for a request's header, and an idle connection for its next request.
const HEADER_TIME: Duration = Duration::from_secs(75);
/// Bytes of a request's header.
const HEADER_BYTES: usize = 32 * 1024;
/// The time open requests get at shutdown.
const DRAIN: Duration = Duration::from_secs(10);
/// After a failed accept (out of file descriptors), so as not to spin.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown`, then lets open requests end.
pub(crate) async fn serve(listener: TcpListener, router: Router, shutdown: CancellationToken) {
    let graceful = GracefulShutdown::new();
    while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, _peer)) => connection(stream, router.clone(), &graceful),
            Err(error) => {
                tracing::warn!(%error, "an HTTP connection was not accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("some HTTP requests were cut off");
    }
}

fn connection(stream: TcpStream, router: Router, graceful: &GracefulShutdown) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was not set");
    }
    let service =
        router.map_request(|request: hyper::Request<Incoming>| request.map(axum::body::Body::new));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        let connection = pin!(connection);
        if let Err(error) = connection.await {
            tracing::debug!(%error, "an HTTP connection broke");
        }
    });
}
