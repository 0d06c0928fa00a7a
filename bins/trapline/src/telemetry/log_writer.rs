//! Writes log lines by a thread of its own: a line that cannot be written is lost and stops nothing, nor does
//! a reader that is slow or never reads.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use tracing_subscriber::fmt::MakeWriter;

/// Lines that may wait to be written; further ones are lost.
const QUEUE_CAPACITY: usize = 16_384;
/// How long the end of the process waits for lines that are not written yet.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Queues log lines for the thread. Each write is one line, and never fails.
#[derive(Clone)]
pub(super) struct LogWriter {
    lines: SyncSender<Vec<u8>>,
    counts: Arc<LineCounts>,
}

#[derive(Default)]
struct LineCounts {
    waiting: AtomicUsize,
    lost: AtomicUsize,
}

/// Waits when dropped, for at most a second, until the queued lines are written.
pub(crate) struct FlushGuard(Arc<LineCounts>);

impl LogWriter {
    /// Starts the thread that writes to `out`.
    pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<(Self, FlushGuard)> {
        let (lines, coming) = sync_channel(QUEUE_CAPACITY);
        let counts = Arc::<LineCounts>::default();
        let of_thread = counts.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            write_all(out, &coming, &of_thread);
        })?;
        Ok((Self { lines, counts: counts.clone() }, FlushGuard(counts)))
    }
}

fn write_all(mut out: impl Write, lines: &Receiver<Vec<u8>>, counts: &LineCounts) {
    for line in lines {
        // A full disk and a reader that is gone lose this line, and nothing else.
        let mut written = out.write_all(&line);
        let lost = counts.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            written = written.and(writeln!(out, "{lost} lines of the log were lost"));
        }
        drop(written.and_then(|()| out.flush()));
        counts.waiting.fetch_sub(1, Ordering::Release);
    }
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.counts.waiting.fetch_add(1, Ordering::Relaxed);
        if self.lines.try_send(line.to_vec()).is_err() {
            self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
            self.counts.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Drop for FlushGuard {
    fn drop(&mut self) {
        let began = Instant::now();
        while self.0.waiting.load(Ordering::Acquire) > 0 && began.elapsed() < FLUSH_TIMEOUT {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError, mpsc};

    use super::*;

    /// Writes as the standard error of another process would.
    struct Out {
        written: Arc<Mutex<Vec<u8>>>,
        /// Each write waits for one of these.
        allowed: Receiver<io::Result<()>>,
    }

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.allowed.recv().unwrap_or(Ok(()))?;
            self.written.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    type Started = (LogWriter, FlushGuard, Arc<Mutex<Vec<u8>>>, mpsc::Sender<io::Result<()>>);

    fn start() -> Started {
        let (allow, allowed) = mpsc::channel();
        let written = Arc::default();
        let started = LogWriter::start(Out { written: Arc::clone(&written), allowed });
        let Ok((lines, flush)) = started else { panic!("no thread") };
        (lines, flush, written, allow)
    }

    fn text(written: &Mutex<Vec<u8>>) -> String {
        let written = written.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&written).into_owned()
    }

    #[test]
    fn a_line_that_cannot_be_written_is_lost_and_the_next_one_is_not() {
        let (mut lines, flush, written, allow) = start();
        for outcome in [Err(io::ErrorKind::StorageFull.into()), Ok(())] {
            assert!(allow.send(outcome).is_ok());
        }
        assert!(lines.write_all(b"first\n").and_then(|()| lines.write_all(b"second\n")).is_ok());
        drop(flush);
        assert_eq!(text(&written), "second\n");
    }

    #[test]
    fn a_reader_that_does_not_read_stops_nobody() {
        let (mut lines, flush, written, allow) = start();
        for _ in 0..QUEUE_CAPACITY + 11 {
            assert!(lines.write_all(b"x\n").is_ok());
        }
        drop(allow);
        drop(flush);
        assert!(text(&written).contains(" lines of the log were lost\n"));
    }
}
