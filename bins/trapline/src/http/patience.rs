//! A stream whose other end must take what is written to it, and from which a head can be read again.

use std::{
    future::Future,
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};
use trapline_app::metrics;

/// Bytes that a client must take within the time: less is as good as nothing, or a byte a minute would
/// hold an answer for years.
const STEP: usize = 64 * 1024;

/// Bytes that the system buffers of what is written to an event stream. It would take megabytes of events
/// before it is seen that nobody reads them.
const LITTLE: usize = 32 * 1024;

/// A connection whose buffer in the system can be made small.
pub(super) trait Buffered {
    /// Makes it so.
    fn buffer_little(&self);
}

impl Buffered for TcpStream {
    fn buffer_little(&self) {
        if let Err(error) = SockRef::from(self).set_send_buffer_size(LITTLE) {
            tracing::debug!(%error, "a connection has kept its buffer");
        }
    }
}

/// What a stream and those who have its server's requests at hand tell each other.
#[derive(Default)]
pub(super) struct Signs {
    events: AtomicBool,
    writing: AtomicBool,
}

impl Signs {
    /// An event stream is written next.
    pub(super) fn events_are_next(&self) {
        self.events.store(true, Ordering::Relaxed);
    }

    /// Whether some of what the server has written is still to go out.
    pub(super) fn is_writing(&self) -> bool {
        self.writing.load(Ordering::Relaxed)
    }
}

/// Fails with [`io::ErrorKind::TimedOut`] when less than 64 KiB of what waits to be written goes out
/// in the time given.
pub(super) struct Patient<S> {
    stream: S,
    time: Duration,
    /// Runs while something waits to be written.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Bytes written since the deadline was set.
    written: usize,
    signs: Arc<Signs>,
    /// What is read before what comes from the stream.
    first: Bytes,
}

impl<S: Buffered> Patient<S> {
    pub(super) fn new(stream: S, time: Duration, signs: Arc<Signs>) -> Self {
        Self { stream, time, deadline: None, written: 0, signs, first: Bytes::new() }
    }

    pub(super) fn stream(&self) -> &S {
        &self.stream
    }

    /// Has these bytes read first.
    pub(super) fn read_again(self, first: Bytes) -> Self {
        Self { first, ..self }
    }

    fn prepare(&self) {
        let events = &self.signs.events;
        if events.load(Ordering::Relaxed) && events.swap(false, Ordering::Relaxed) {
            self.stream.buffer_little();
        }
    }

    fn nothing_waits(&mut self) {
        (self.deadline, self.written) = (None, 0);
        self.signs.writing.store(false, Ordering::Relaxed);
    }

    /// What becomes of a write, by what the stream says of it.
    fn judge(
        &mut self,
        cx: &mut Context<'_>,
        wrote: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &wrote {
            self.written = self.written.saturating_add(*bytes);
            if self.written >= STEP {
                self.nothing_waits();
            }
        }
        if wrote.is_ready() {
            return wrote;
        }
        self.signs.writing.store(true, Ordering::Relaxed);
        let time = self.time;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(time)));
        ready!(deadline.as_mut().poll(cx));
        metrics::http_fault("write_timeout");
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.first.is_empty() {
            let len = self.first.len().min(buffer.remaining());
            buffer.put_slice(&self.first.split_to(len));
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Buffered + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.prepare();
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.judge(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.prepare();
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.judge(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Comes when all that was to be written is.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.nothing_waits();
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;

    const TIME: Duration = Duration::from_secs(30);

    impl Buffered for DuplexStream {
        fn buffer_little(&self) {}
    }

    fn patient(stream: DuplexStream) -> Patient<DuplexStream> {
        Patient::new(stream, TIME, Arc::default())
    }
    const ANSWER: usize = 10 * STEP;

    /// Reads so much at a time, with a pause before each.
    async fn read(mut stream: DuplexStream, step: usize, pause: Duration) -> usize {
        let (mut buffer, mut total) = (vec![0; step], 0);
        loop {
            sleep(pause).await;
            match stream.read_exact(&mut buffer).await {
                Ok(bytes) => total += bytes,
                Err(_) => return total,
            }
        }
    }

    async fn exchange(step: usize, pause: Duration) -> (io::Result<()>, usize) {
        let (ours, theirs) = duplex(1024);
        let write = async {
            let mut patient = patient(ours);
            patient.write_all(&vec![0; ANSWER]).await?;
            patient.flush().await
        };
        tokio::join!(write, read(theirs, step, pause))
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_gets_all_and_a_slower_one_is_cut() {
        let (wrote, read) = exchange(STEP, Duration::from_secs(25)).await;
        assert_eq!((wrote.ok(), read), (Some(()), ANSWER));
        for (step, pause) in [(STEP, 31), (1024, 1), (1, 29)] {
            let (wrote, read) = exchange(step, Duration::from_secs(pause)).await;
            assert_eq!(wrote.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut), "{step}");
            assert!(read < ANSWER);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_with_nothing_to_write_may_be_silent() {
        let (ours, mut theirs) = duplex(1024);
        let mut patient = patient(ours);
        for _ in 0..3 {
            assert!(patient.write_all(b": ping\n\n").await.is_ok());
            assert!(patient.flush().await.is_ok());
            assert!(theirs.read_exact(&mut [0; 8]).await.is_ok());
            sleep(10 * TIME).await;
        }
    }
}
