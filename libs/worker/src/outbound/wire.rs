//! A connection that gives up on an answer that grows without end.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What one exchange may cost: the head, the part of the body that is read, and as much again for
/// interim answers (1xx) and what is read ahead.
const MAX_EXCHANGE_BYTES: usize = 96 * 1024;
/// Connections open at once beyond which none is kept for later.
const MAX_POOLED: usize = 1024;

/// How much may still be read on a connection.
#[derive(Debug, Clone)]
pub(super) struct Budget(Arc<AtomicUsize>);

impl Budget {
    /// Starts anew, once an exchange is over.
    pub(super) fn refill(&self) {
        self.0.store(MAX_EXCHANGE_BYTES, Ordering::Relaxed);
    }

    fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Only the connection's own task reads, so nothing comes between the two steps.
    fn spend(&self, bytes: usize) {
        let left = self.0.load(Ordering::Relaxed).saturating_sub(bytes);
        self.0.store(left, Ordering::Relaxed);
    }
}

/// Plain TCP, or TLS over it.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// The bytes of an HTTP connection.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    budget: Budget,
    /// One for each open connection, and one more.
    connections: Arc<()>,
}

impl Wire {
    pub(super) fn new(stream: Box<dyn Stream>, connections: Arc<()>) -> Self {
        Self { stream, budget: Budget(Arc::new(AtomicUsize::new(MAX_EXCHANGE_BYTES))), connections }
    }
}

impl Connection for Wire {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(self.budget.clone());
        if Arc::strong_count(&self.connections) > MAX_POOLED {
            connected.poison();
        }
        connected
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.budget.is_spent() {
            return Poll::Ready(Err(io::Error::other("the answer is too long")));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.budget.spend(buf.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
