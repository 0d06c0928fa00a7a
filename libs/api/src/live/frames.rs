//! Events as they go over the wire (HTML Living Standard, section 9.2.5).

use std::{convert::Infallible, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::{Stream, StreamExt, stream};
use tokio::time::{Instant, timeout, timeout_at};
use trapline_app::{Feed, FeedEvent};

/// How often a comment tells proxies and clients that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// What a client is told to let go by before it connects again, in milliseconds.
const RETRY: &str = "2000";
/// A write is put off for no less than this: a timer's grain is a millisecond.
const NOTICEABLE: Duration = Duration::from_millis(5);
/// Bytes of events that are written without waiting for others.
const ENOUGH: usize = 32 * 1024;

/// The frames of a feed. The first is a comment, so that a client sees at once that the stream is
/// open; it has an id, so that a client which loses the stream before its first event misses none.
pub(super) fn of(feed: Feed) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let opened = format!(": open\nretry: {RETRY}\nid: {}\n\n", feed.position());
    let events = stream::unfold(feed, |mut feed| async move {
        let event = feed.next().await?;
        Some(((event, feed.pause()), feed))
    });
    stream::iter([opened.into()]).chain(batches(events)).map(Ok)
}

/// Writes an event at once when the last write was a while ago, and otherwise with what comes until
/// the pause after it is over: a write costs far more than an event.
fn batches(
    events: impl Stream<Item = (FeedEvent, Duration)> + Send + 'static,
) -> impl Stream<Item = Bytes> {
    let state = (Box::pin(events.fuse()), Instant::now());
    stream::unfold(state, |(mut events, due)| async move {
        let Ok(first) = timeout(HEARTBEAT, events.next()).await else {
            return Some((Bytes::from_static(b":\n\n"), (events, due)));
        };
        let (event, mut pause) = first?;
        let mut batch = BytesMut::new();
        put(&mut batch, &event);
        while batch.len() < ENOUGH
            && let Ok(Some((event, now))) = timeout_at(due, events.next()).await
        {
            put(&mut batch, &event);
            pause = now;
        }
        if pause < NOTICEABLE {
            pause = Duration::ZERO;
        }
        Some((batch.freeze(), (events, Instant::now() + pause)))
    })
}

fn put(batch: &mut BytesMut, event: &FeedEvent) {
    let FeedEvent { id, name, data } = event;
    for part in ["id: ", id, "\nevent: ", name, "\ndata: "] {
        batch.put_slice(part.as_bytes());
    }
    batch.put_slice(data);
    batch.put_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::sync::mpsc;

    use super::*;

    const PAUSE: Duration = Duration::from_millis(500);

    fn event(number: u32) -> (FeedEvent, Duration) {
        let data = Bytes::from(number.to_string());
        (FeedEvent { id: "x".to_owned(), name: "message.created", data }, PAUSE)
    }

    fn numbers(batch: &Bytes) -> Vec<String> {
        let text = String::from_utf8_lossy(batch).into_owned();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(str::to_owned).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_within_the_pause_is_one_write() {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let events = stream::poll_fn(move |cx| receiver.poll_recv(cx));
        let mut batches = Box::pin(batches(events));
        let send = |number| sender.send(event(number)).is_ok();
        assert!(send(1));
        let began = Instant::now();
        assert_eq!(batches.next().await.map(|batch| numbers(&batch)), Some(vec!["1".to_owned()]));
        assert_eq!(began.elapsed(), Duration::ZERO, "the first is written at once");
        assert!(send(2) && batches.next().now_or_never().is_none() && send(3));
        let both = batches.next().await.map(|batch| numbers(&batch));
        assert_eq!(both, Some(vec!["2".to_owned(), "3".to_owned()]));
        assert!(began.elapsed() >= PAUSE && began.elapsed() < 2 * PAUSE);
        tokio::time::sleep(PAUSE).await;
        let later = Instant::now();
        assert!(send(4));
        assert_eq!(batches.next().await.map(|batch| numbers(&batch)), Some(vec!["4".to_owned()]));
        assert_eq!(later.elapsed(), Duration::ZERO);
        drop(sender);
        assert_eq!(batches.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_has_heartbeats() {
        let mut batches = Box::pin(batches(stream::pending()));
        let began = Instant::now();
        assert_eq!(batches.next().await.as_deref(), Some(&b":\n\n"[..]));
        assert_eq!(began.elapsed(), HEARTBEAT);
    }
}
