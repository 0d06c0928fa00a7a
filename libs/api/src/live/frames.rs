//! Events as they go over the wire (HTML Living Standard, section 9.2.5).

use std::{
    convert::Infallible,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::{FutureExt as _, Stream, StreamExt, stream};
use tokio::time::{Instant, sleep_until, timeout_at};
use trapline_app::{Feed, FeedEvent};

/// How often a comment tells proxies and clients that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// What a client is told to let go by before it connects again, in milliseconds.
const RETRY: &str = "2000";
/// Streams of which there are so few that each could be written to once in this time are written to
/// at once: no more than a hundred of an inbox.
const SHORT_PERIOD: Duration = Duration::from_millis(25);
/// How often a stream that awaits its turn takes what came, which is sooner than the bus forgets.
const DRAIN_INTERVAL: Duration = Duration::from_millis(100);
/// Bytes of events that are written without waiting for others.
const BATCH_BYTES: usize = 32 * 1024;

/// The frames of a feed. The first is a comment, so that a client sees at once that the stream is
/// open; it has an id, so that a client which loses the stream before its first event misses none. They
/// end after `duration`, if there is one, or when the feed does.
pub(super) fn of(
    feed: Feed,
    duration: Option<Duration>,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let opened = format!(": open\nretry: {RETRY}\nid: {}\n\n", feed.position());
    let events = stream::unfold(feed, |mut feed| async move {
        let event = feed.next().await?;
        Some(((event, feed.pause()), feed))
    });
    let end = duration.map(|duration| Instant::now() + duration);
    stream::iter([opened.into()]).chain(batches(events, end)).map(Ok)
}

/// When a stream among many is written to: once in a period, and each at another time in it. One
/// mail is told to all of them, and would keep everybody else waiting if that were done at once.
#[derive(Clone, Copy)]
struct WriteSchedule {
    opened: Instant,
    /// In parts of 2^32 of a period.
    phase: u32,
}

impl WriteSchedule {
    fn new() -> Self {
        /// 2^32 over the golden ratio: multiples of it fill a circle evenly, however many there are.
        const STEP: u32 = 0x9E37_79B9;
        static LAST: AtomicU32 = AtomicU32::new(0);
        Self { opened: Instant::now(), phase: LAST.fetch_add(STEP, Ordering::Relaxed) }
    }

    /// The next turn, where each stream has one in `period`.
    fn next(self, period: Duration) -> Instant {
        if period < SHORT_PERIOD {
            return Instant::now();
        }
        let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX);
        let phase = u64::try_from((u128::from(period) * u128::from(self.phase)) >> 32);
        let passed = u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let since = passed.saturating_add(phase.unwrap_or_default()) % period;
        Instant::now() + Duration::from_nanos(period - since)
    }
}

/// Joins the events that come until the stream's turn: a write costs far more than an event. There is no
/// turn after the `end`.
fn batches(
    events: impl Stream<Item = (FeedEvent, Duration)> + Send + 'static,
    end: Option<Instant>,
) -> impl Stream<Item = Bytes> {
    let schedule = WriteSchedule::new();
    stream::unfold(Box::pin(events.fuse()), move |mut events| async move {
        let now = Instant::now();
        let (beat, left) = (now + HEARTBEAT, end.map(|end| end.saturating_duration_since(now)));
        if left.is_some_and(|left| left.is_zero()) {
            return None;
        }
        let Ok(first) = timeout_at(end.map_or(beat, |end| end.min(beat)), events.next()).await
        else {
            let goes_on = left.is_none_or(|left| left > HEARTBEAT);
            return goes_on.then_some((Bytes::from_static(b":\n\n"), events));
        };
        let (event, pause) = first?;
        let due = schedule.next(pause);
        let due = end.map_or(due, |end| end.min(due));
        let mut batch = Batch::default();
        batch.push(event);
        loop {
            let mut is_over = false;
            while batch.bytes < BATCH_BYTES
                && !is_over
                && let Some(next) = events.next().now_or_never()
            {
                match next {
                    Some((event, _)) => batch.push(event),
                    None => is_over = true,
                }
            }
            let now = Instant::now();
            if is_over || batch.bytes >= BATCH_BYTES || due <= now {
                return Some((batch.written(), events));
            }
            // Not for the next event: that would wake each of many streams for each of many events.
            sleep_until(due.min(now + DRAIN_INTERVAL)).await;
        }
    })
}

/// Events until they are written: all streams of an inbox share the bytes of each, which thousands that await their
/// turn must not have copies of.
#[derive(Default)]
struct Batch {
    events: Vec<FeedEvent>,
    /// What they take when they are written.
    bytes: usize,
}

impl Batch {
    fn push(&mut self, event: FeedEvent) {
        self.bytes += parts(&event).map(<[u8]>::len).iter().sum::<usize>();
        self.events.push(event);
    }

    fn written(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(self.bytes);
        for part in self.events.iter().flat_map(parts) {
            bytes.put_slice(part);
        }
        bytes.freeze()
    }
}

fn parts(event: &FeedEvent) -> [&[u8]; 7] {
    let FeedEvent { id, name, data } = event;
    [b"id: ", id.as_bytes(), b"\nevent: ", name.as_bytes(), b"\ndata: ", data, b"\n\n"]
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use tokio::sync::mpsc;

    use super::*;

    const PERIOD: Duration = Duration::from_millis(500);

    fn event(number: u32, period: Duration) -> (FeedEvent, Duration) {
        let data = Bytes::from(number.to_string());
        (FeedEvent { id: "x".to_owned(), name: "message.created", data }, period)
    }

    fn numbers(batch: &Bytes) -> Vec<u32> {
        let text = String::from_utf8_lossy(batch).into_owned();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|number| number.parse().unwrap()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_many_streams_has_a_turn_in_each_period() {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let events = stream::poll_fn(move |cx| receiver.poll_recv(cx));
        let mut batches = Box::pin(batches(events, None));
        let began = Instant::now();
        sender.send(event(1, PERIOD)).unwrap();
        sender.send(event(2, PERIOD)).unwrap();
        assert_eq!(numbers(&batches.next().await.unwrap()), [1, 2]);
        let first = began.elapsed();
        assert!(first <= PERIOD);
        sender.send(event(3, PERIOD)).unwrap();
        assert!(batches.next().now_or_never().is_none());
        sender.send(event(4, PERIOD)).unwrap();
        assert_eq!(numbers(&batches.next().await.unwrap()), [3, 4]);
        let apart = began.elapsed().saturating_sub(first);
        // A timer's grain is a millisecond.
        assert!(apart.abs_diff(PERIOD) < Duration::from_millis(5), "{apart:?}");
        sender.send(event(5, PERIOD)).unwrap();
        drop(sender);
        assert_eq!(numbers(&batches.next().await.unwrap()), [5]);
        assert_eq!(batches.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_few_is_written_to_at_once() {
        let events = stream::iter((0..3).map(|number| event(number, SHORT_PERIOD / 2)));
        let mut batches = Box::pin(batches(events.chain(stream::pending()), None));
        let batch = batches.next().now_or_never().flatten().unwrap();
        assert_eq!(numbers(&batch), [0, 1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_by_itself_with_what_came_until_then() {
        let end = Instant::now() + HEARTBEAT + PERIOD;
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let events = stream::poll_fn(move |cx| receiver.poll_recv(cx));
        let mut quiet = Box::pin(batches(events, Some(end)));
        assert_eq!(quiet.next().await.unwrap(), ":\n\n");
        sender.send(event(1, HEARTBEAT)).unwrap();
        assert_eq!(numbers(&quiet.next().await.unwrap()), [1]);
        assert_eq!(quiet.next().await, None);
        assert!(Instant::now().duration_since(end) < Duration::from_millis(5), "{end:?}");
        // More than there is time for.
        let flood = stream::iter((0..).map(|number| event(number, Duration::ZERO)));
        let mut flood = Box::pin(batches(flood, Some(Instant::now() + PERIOD)));
        flood.next().await.unwrap();
        tokio::time::advance(PERIOD).await;
        assert_eq!(flood.next().await, None);
        let mut silent = Box::pin(batches(stream::pending(), Some(Instant::now() + PERIOD)));
        assert_eq!(silent.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn turns_are_spread_over_the_period() {
        let now = Instant::now();
        let mut schedule: Vec<_> =
            (0..100).map(|_| WriteSchedule::new().next(PERIOD).duration_since(now)).collect();
        schedule.sort_unstable();
        assert!(schedule.iter().all(|turn| *turn <= PERIOD));
        let widest = schedule.windows(2).map(|pair| pair[1].checked_sub(pair[0]).unwrap()).max();
        assert!(widest.unwrap() < PERIOD / 30, "{widest:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_has_heartbeats() {
        let mut batches = Box::pin(batches(stream::pending(), None));
        let began = Instant::now();
        assert_eq!(batches.next().await.as_deref(), Some(&b":\n\n"[..]));
        assert_eq!(began.elapsed(), HEARTBEAT);
    }
}
