//! An HTTP connection with a budget of bytes for each answer.

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

/// Bytes that one answer may take: the head, the part of the body that is read, and as much again for
/// interim answers (1xx) and read-ahead.
const MAX_EXCHANGE_BYTES: usize = 96 * 1024;
/// Open connections beyond which none is kept for the next request.
const MAX_POOLED: usize = 1024;

/// Bytes that may still be read for the current answer.
#[derive(Debug, Clone)]
pub(super) struct Budget(Arc<AtomicUsize>);

impl Budget {
    /// Restores the whole budget for the next answer.
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
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A connection that fails once its budget is spent.
pub(super) struct BoundedConnection {
    stream: Box<dyn ByteStream>,
    budget: Budget,
    /// One for each open connection, and one more.
    open: Arc<()>,
}

impl BoundedConnection {
    pub(super) fn new(stream: Box<dyn ByteStream>, open: Arc<()>) -> Self {
        Self { stream, budget: Budget(Arc::new(AtomicUsize::new(MAX_EXCHANGE_BYTES))), open }
    }
}

impl Connection for BoundedConnection {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(self.budget.clone());
        if Arc::strong_count(&self.open) > MAX_POOLED {
            connected.poison();
        }
        connected
    }
}

impl AsyncRead for BoundedConnection {
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

impl AsyncWrite for BoundedConnection {
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
