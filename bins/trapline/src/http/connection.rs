//! One connection. Hyper keeps two buffers of 8 KB for each, which thousands of parked waits have no use for:
//! while an answer is deferred, the connection has no hyper server; another one is made to write the answer.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio_util::sync::CancellationToken;
use trapline_api::ResponseFuture;
use trapline_app::metrics;

use super::{
    BUFFER_BYTES, HEAD_BYTES, Limits,
    admission::Ticket,
    exchange::{Exchange, RequestHead},
    write_timeout::{ClientStream, StreamState, TimedStream},
};

/// Serves one connection.
pub(super) struct Connection {
    exchange: Exchange,
    limits: Arc<Limits>,
    shutdown: CancellationToken,
    state: Arc<StreamState>,
    _ticket: Ticket,
}

type Server<S> = http1::Connection<TokioIo<TimedStream<S>>, Exchange>;

/// A connection without a server, whose answer is deferred.
struct DeferredAnswer<S> {
    io: TimedStream<S>,
    work: ResponseFuture,
    head: RequestHead,
    /// What the client sent after its request.
    more: Box<[u8]>,
}

/// Why a server stops serving a connection.
enum ServerEnd {
    Closed(hyper::Result<()>),
    Deferred(ResponseFuture, RequestHead),
}

impl Connection {
    pub(super) fn new(
        router: Router,
        limits: Arc<Limits>,
        shutdown: CancellationToken,
        ticket: Ticket,
    ) -> Self {
        let state = Arc::<StreamState>::default();
        let exchange = Exchange::new(router, ticket.peer(), state.clone());
        Self { exchange, limits, shutdown, state, _ticket: ticket }
    }

    /// Answers requests until the connection ends.
    pub(super) async fn run<S: ClientStream>(self, stream: S) {
        let mut io = TimedStream::new(stream, self.limits.write, self.state.clone());
        // In a box, whose memory is freed while an answer is awaited.
        while let Some(later) = Box::pin(self.serve(io)).await {
            let DeferredAnswer { io: mut parked, work, head, more } = later;
            let answer = tokio::select! {
                answer = work => answer,
                () = parked.closed_by_client() => return,
            };
            self.exchange.answer(answer);
            io = parked.replay_first(&[head.written().as_bytes(), &more].concat());
        }
    }

    /// Serves until the connection ends or an answer is deferred.
    async fn serve<S: ClientStream>(&self, io: TimedStream<S>) -> Option<DeferredAnswer<S>> {
        let mut server = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.next_request)
            .max_header_size(HEAD_BYTES)
            .max_buf_size(BUFFER_BYTES)
            .serve_connection(TokioIo::new(io), self.exchange.clone());
        let ended = tokio::select! {
            ended = self.until_deferred(&mut server) => ended,
            () = self.without_request(self.limits.first_request) => {
                metrics::http_fault("no_request");
                return None;
            }
        };
        match ended {
            ServerEnd::Closed(Ok(())) => None,
            ServerEnd::Closed(Err(error)) => {
                tracing::debug!(%error, "an HTTP connection broke");
                None
            }
            ServerEnd::Deferred(work, head) => {
                let http1::Parts { io, read_buf, .. } = server.into_parts();
                // A copy, as an empty piece of the buffer keeps all of it.
                Some(DeferredAnswer {
                    io: io.into_inner(),
                    work,
                    head,
                    more: Box::from(&read_buf[..]),
                })
            }
        }
    }

    async fn until_deferred<S: ClientStream>(&self, server: &mut Server<S>) -> ServerEnd {
        let mut shutdown = pin!(self.shutdown.cancelled());
        let mut is_last = false;
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(closed) = Pin::new(&mut *server).poll(cx) {
                    return Poll::Ready(ServerEnd::Closed(closed));
                }
                if let Some((work, head)) = self.exchange.take_deferred() {
                    return Poll::Ready(ServerEnd::Deferred(work, head));
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
