//! Events as they go over the wire (HTML Living Standard, section 9.2.5).

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio::time::timeout;
use trapline_app::{Feed, FeedEvent};

/// How often a comment tells proxies and clients that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// What a client is told to let go by before it connects again, in milliseconds.
const RETRY: &str = "2000";

/// The frames of a feed. The first is a comment, so that a client sees at once that the stream is
/// open; it has an id, so that a client which loses the stream before its first event misses none.
pub(super) fn of(feed: Feed) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let opened = format!(": open\nretry: {RETRY}\nid: {}\n\n", feed.position());
    let events = stream::unfold(feed, |mut feed| async move { Some((feed.next().await?, feed)) });
    let alive = stream::unfold(Box::pin(events), |mut events| async move {
        let frame = match timeout(HEARTBEAT, events.next()).await {
            Ok(event) => frame(event?),
            Err(_elapsed) => vec![Bytes::from_static(b":\n\n")],
        };
        Some((stream::iter(frame), events))
    });
    stream::iter([opened.into()]).chain(alive.flatten()).map(Ok)
}

/// In several pieces: the payload is not copied, as many streams share it.
fn frame(event: FeedEvent) -> Vec<Bytes> {
    let head = format!("id: {}\nevent: {}\ndata: ", event.id, event.name);
    vec![head.into(), event.data, Bytes::from_static(b"\n\n")]
}
