//! A stream whose other end must take what is written to it, and from which a head can be read again.

use std::{
    future::{Future, pending},
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
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};
use tokio_rustls::server::TlsStream;
use trapline_app::metrics;

/// Bytes that a client must take within the time: less is as good as nothing, or a byte a minute would
/// hold an answer for years.
const MIN_PROGRESS_BYTES: usize = 64 * 1024;

/// Bytes that the system buffers of what is written to an event stream. It would take megabytes of events
/// before it is seen that nobody reads them.
const EVENT_SEND_BUFFER_BYTES: usize = 32 * 1024;

/// The client's end of a connection.
pub(super) trait ClientStream: AsyncRead + AsyncWrite + Send + Unpin {
    /// Makes the buffer small that the system has for what is written.
    fn shrink_send_buffer(&self);
}

impl ClientStream for TcpStream {
    fn shrink_send_buffer(&self) {
        if let Err(error) = SockRef::from(self).set_send_buffer_size(EVENT_SEND_BUFFER_BYTES) {
            tracing::debug!(%error, "a connection has kept its buffer");
        }
    }
}

impl ClientStream for Box<TlsStream<TcpStream>> {
    fn shrink_send_buffer(&self) {
        self.get_ref().0.shrink_send_buffer();
    }
}

/// What a stream and the exchange that is served over it tell each other.
#[derive(Default)]
pub(super) struct StreamState {
    events: AtomicBool,
    writing: AtomicBool,
}

impl StreamState {
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
pub(super) struct TimedStream<S> {
    stream: S,
    time: Duration,
    /// Runs while something waits to be written.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Bytes written since the deadline was set.
    written: usize,
    state: Arc<StreamState>,
    /// What is read before what comes from the stream.
    replayed: Bytes,
}

impl<S: ClientStream> TimedStream<S> {
    pub(super) fn new(stream: S, time: Duration, state: Arc<StreamState>) -> Self {
        Self { stream, time, deadline: None, written: 0, state, replayed: Bytes::new() }
    }

    /// Returns when the client has closed its side. Of one that sends more a byte is taken, which is kept for who
    /// reads next; and then it is not looked at again, as by hyper.
    pub(super) async fn closed_by_client(&mut self) {
        let mut byte = [0];
        if matches!(self.stream.read(&mut byte).await, Ok(1..)) {
            self.replayed = [&self.replayed[..], &byte].concat().into();
            pending::<()>().await;
        }
    }

    /// Has these bytes read before whatever would be read next.
    pub(super) fn replay_first(self, first: &[u8]) -> Self {
        Self { replayed: [first, &self.replayed].concat().into(), ..self }
    }

    fn shrink_for_events(&self) {
        let events = &self.state.events;
        if events.load(Ordering::Relaxed) && events.swap(false, Ordering::Relaxed) {
            self.stream.shrink_send_buffer();
        }
    }

    fn clear_deadline(&mut self) {
        (self.deadline, self.written) = (None, 0);
        self.state.writing.store(false, Ordering::Relaxed);
    }

    /// What becomes of a write, by what the stream says of it.
    fn check_progress(
        &mut self,
        cx: &mut Context<'_>,
        wrote: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &wrote {
            self.written = self.written.saturating_add(*bytes);
            if self.written >= MIN_PROGRESS_BYTES {
                self.clear_deadline();
            }
        }
        self.in_time(cx, wrote)
    }

    /// The outcome of a write or of what completes writes; it fails once it takes too long.
    fn in_time<T>(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            return outcome;
        }
        self.state.writing.store(true, Ordering::Relaxed);
        let time = self.time;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(time)));
        ready!(deadline.as_mut().poll(cx));
        metrics::http_fault("write_timeout");
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: ClientStream> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.replayed.is_empty() {
            let len = self.replayed.len().min(buffer.remaining());
            buffer.put_slice(&self.replayed.split_to(len));
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: ClientStream> AsyncWrite for TimedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.shrink_for_events();
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check_progress(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.shrink_for_events();
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.check_progress(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Comes when the stream has taken all that was to be written. TLS keeps some of it until the client takes it.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if flushed.is_ready() {
            self.clear_deadline();
        }
        self.in_time(cx, flushed)
    }

    /// TLS has a last word to say, for which there may be no room.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.in_time(cx, closed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt as _, BufWriter, DuplexStream, duplex};

    use super::*;

    const TIME: Duration = Duration::from_secs(30);

    impl ClientStream for DuplexStream {
        fn shrink_send_buffer(&self) {}
    }

    impl ClientStream for BufWriter<DuplexStream> {
        fn shrink_send_buffer(&self) {}
    }

    fn timed<S: ClientStream>(stream: S) -> TimedStream<S> {
        TimedStream::new(stream, TIME, Arc::default())
    }
    const ANSWER: usize = 10 * MIN_PROGRESS_BYTES;

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
            let mut timed = timed(ours);
            timed.write_all(&vec![0; ANSWER]).await?;
            timed.flush().await
        };
        tokio::join!(write, read(theirs, step, pause))
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_gets_all_and_a_slower_one_is_cut() {
        let (wrote, read) = exchange(MIN_PROGRESS_BYTES, Duration::from_secs(25)).await;
        assert_eq!((wrote.ok(), read), (Some(()), ANSWER));
        for (step, pause) in [(MIN_PROGRESS_BYTES, 31), (1024, 1), (1, 29)] {
            let (wrote, read) = exchange(step, Duration::from_secs(pause)).await;
            assert_eq!(wrote.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut), "{step}");
            assert!(read < ANSWER);
        }
    }

    /// A stream of TLS takes what it cannot send yet.
    #[tokio::test(start_paused = true)]
    async fn what_a_stream_keeps_must_be_taken_too() {
        for closes in [false, true] {
            let (ours, theirs) = duplex(1024);
            let mut timed = timed(BufWriter::new(ours));
            assert!(timed.write_all(&[0; 4096]).await.is_ok());
            let ended = if closes { timed.shutdown().await } else { timed.flush().await };
            assert_eq!(ended.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
            assert!(timed.state.is_writing());
            drop(theirs);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_come_back_in_the_order_in_which_they_came() {
        let (ours, mut theirs) = duplex(1024);
        let mut timed = timed(ours).replay_first(b"cd").replay_first(b"ab");
        assert!(theirs.write_all(b"ef").await.is_ok());
        let closed = tokio::time::timeout(TIME, timed.closed_by_client()).await;
        assert!(closed.is_err(), "it is still there");
        let mut read = [0; 6];
        assert!(timed.read_exact(&mut read).await.is_ok());
        assert_eq!(&read, b"abcdef");
        drop(theirs);
        timed.closed_by_client().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_with_nothing_to_write_may_be_silent() {
        let (ours, mut theirs) = duplex(1024);
        let mut timed = timed(ours);
        for _ in 0..3 {
            assert!(timed.write_all(b": ping\n\n").await.is_ok());
            assert!(timed.flush().await.is_ok());
            assert!(theirs.read_exact(&mut [0; 8]).await.is_ok());
            sleep(10 * TIME).await;
        }
    }
}
