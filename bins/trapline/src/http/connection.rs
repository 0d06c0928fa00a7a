//! One connection. Hyper keeps two buffers of 8 KB for each, which thousands of parked waits have no use for: while
//! an answer is to come later, the connection is taken apart; it is put together again to write the answer.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use axum::{Router, response::Response};
use bytes::Bytes;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use trapline_api::Work;
use trapline_app::metrics;

use super::{
    BUFFER_BYTES, HEAD_BYTES, Limits,
    admission::Ticket,
    exchange::{Exchange, Head},
    write_timeout::{StreamState, TimedStream},
};

/// What serves one connection.
pub(super) struct Connection {
    exchange: Exchange,
    limits: Arc<Limits>,
    shutdown: CancellationToken,
    state: Arc<StreamState>,
    _ticket: Ticket,
}

type Io = TimedStream<TcpStream>;
type Server = http1::Connection<TokioIo<Io>, Exchange>;

/// A connection that was taken apart.
struct Later {
    io: Io,
    work: Work,
    head: Head,
    /// What the client sent after its request.
    more: Box<[u8]>,
}

/// How a server's turn ends.
enum Ended {
    Closed(hyper::Result<()>),
    Later(Work, Head),
}

impl Connection {
    pub(super) fn new(
        router: Router,
        limits: Arc<Limits>,
        shutdown: CancellationToken,
        ticket: Ticket,
    ) -> Self {
        let state = Arc::<StreamState>::default();
        let exchange = Exchange::new(router, ticket.client(), state.clone());
        Self { exchange, limits, shutdown, state, _ticket: ticket }
    }

    /// Answers requests until the connection ends.
    pub(super) async fn run(self, stream: TcpStream) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY was not set");
        }
        let mut io = TimedStream::new(stream, self.limits.write, self.state.clone());
        // The server is in a box, which is gone while an answer is awaited.
        while let Some(later) = Box::pin(self.serve(io)).await {
            let Later { io: parked, work, head, more } = later;
            let Some(answer) = answered(parked.stream(), work).await else { return };
            self.exchange.answer(answer);
            let replayed = [head.written().as_bytes(), &more].concat();
            io = parked.replay_first(Bytes::from(replayed));
        }
    }

    /// Serves until the connection ends or has an answer that is to come later.
    async fn serve(&self, io: Io) -> Option<Later> {
        let mut server = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.next_request)
            .max_header_size(HEAD_BYTES)
            .max_buf_size(BUFFER_BYTES)
            .serve_connection(TokioIo::new(io), self.exchange.clone());
        let ended = tokio::select! {
            ended = self.until_later(&mut server) => ended,
            () = self.without_request(self.limits.first_request) => {
                metrics::http_fault("no_request");
                return None;
            }
        };
        match ended {
            Ended::Closed(Ok(())) => None,
            Ended::Closed(Err(error)) => {
                tracing::debug!(%error, "an HTTP connection broke");
                None
            }
            Ended::Later(work, head) => {
                let http1::Parts { io, read_buf, .. } = server.into_parts();
                // A copy, as an empty piece of the buffer keeps all of it.
                Some(Later { io: io.into_inner(), work, head, more: Box::from(&read_buf[..]) })
            }
        }
    }

    async fn until_later(&self, server: &mut Server) -> Ended {
        let mut shutdown = pin!(self.shutdown.cancelled());
        let mut is_last = false;
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(closed) = Pin::new(&mut *server).poll(cx) {
                    return Poll::Ready(Ended::Closed(closed));
                }
                if let Some((work, head)) = self.exchange.take_later() {
                    return Poll::Ready(Ended::Later(work, head));
                }
                if is_last || shutdown.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                is_last = true;
                Pin::new(&mut *server).graceful_shutdown();
            }
        })
        .await
    }

    /// Returns after `time`, unless a request has begun by then. Whoever speaks another protocol may wait
    /// for ever for the server's first word, and a slow sender of a head for its end.
    async fn without_request(&self, time: Duration) {
        if !self.exchange.has_begun() {
            tokio::time::sleep(time).await;
        }
        if self.exchange.has_begun() {
            std::future::pending::<()>().await;
        }
    }
}

/// The answer, unless the client leaves before it is there.
async fn answered(stream: &TcpStream, work: Work) -> Option<Response> {
    tokio::select! {
        answer = work => Some(answer),
        () = gone(stream) => None,
    }
}

/// Returns when the client has closed its side. One that sends more meanwhile is not looked at again before it
/// has its answer, as by hyper.
async fn gone(stream: &TcpStream) {
    if matches!(stream.peek(&mut [0]).await, Ok(1..)) {
        std::future::pending::<()>().await;
    }
}
