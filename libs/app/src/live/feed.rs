//! An inbox's live events as a client follows them, with what it missed.
//!
//! A feed holds little, whatever happens in its inbox and however slowly its client takes it: a page
//! of events, the keys that it still has to tell of, and what the bus keeps for it. Who falls behind
//! that is told of a gap and reads the store, page by page.

mod bookmark;
mod changes;
mod counts;
mod deleted;
mod events;
mod payload;
mod recent;
mod replay;

use std::{collections::VecDeque, future::pending, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt;
use tokio::{sync::watch, time::Instant};
use trapline_model::{InboxId, MessageId, Principal, Time};
use trapline_store::{Signal, SignalStream, records};
use uuid::Uuid;

use super::{
    LiveUpdates,
    counted::CountedInbox,
    resync::{NewestMessages, ResyncQueue},
    streams::Follower,
};
use crate::{Error, Result, metrics};
pub(super) use bookmark::window_floor;
use bookmark::{Bookmark, SeenWindow};
use counts::OtherCounts;
use deleted::DeletedBatches;
pub(super) use payload::Payloads;
use recent::RecentChanges;
use replay::Replay;

/// Delay before a stream reads again after the store did not answer.
const STORE_RETRY_DELAY: Duration = Duration::from_secs(2);

/// An event as it goes to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// What a client sends as `Last-Event-ID` to get what came after.
    pub id: String,
    /// `message.created`, `message.updated`, `message.deleted` or `inbox.updated`.
    pub name: &'static str,
    /// The payload: JSON on one line. Streams that tell of the same share its bytes.
    pub data: Bytes,
}

/// A client's view of one inbox; dropping it ends the subscription.
pub struct Feed {
    live: Arc<LiveUpdates>,
    inbox: records::Inbox,
    by: Principal,
    /// The version of its row.
    version: i64,
    /// When the counts were taken that the client was told last.
    counted_at: Uuid,
    signals: SignalStream,
    ready: VecDeque<FeedEvent>,
    replay: Option<Replay>,
    deleted: Option<DeletedBatches>,
    /// The newest message that the client was told of.
    cursor: Uuid,
    /// Messages of the last minute that the client was told of.
    seen: SeenWindow,
    recent: RecentChanges,
    /// Whether other processes write to the store.
    shared: bool,
    /// Moves when a process may have stored messages without announcing them.
    losses: watch::Receiver<u64>,
    resyncs: ResyncQueue,
    /// Whether something else than new messages may have been missed.
    gap: bool,
    /// Until when announcements may come out of order, as those of different processes may overtake each
    /// other. Until then an announced message's row is read, as it may have changed since.
    reorder_until: Option<Instant>,
    ends: Option<Instant>,
    /// Other inboxes of which the client is told.
    counts: Option<OtherCounts>,
    follower: Follower,
    _counted: metrics::Gauged,
}

impl LiveUpdates {
    /// Follows an inbox; who may only read sees no password of it. With `last`, the id of an event,
    /// the messages after that one come first; all that are kept, if it is no id of this inbox's
    /// events.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox, and [`Error::TooManyStreams`] when as many
    /// waits and streams are open as may be.
    pub async fn feed(
        self: &Arc<Self>,
        by: &Principal,
        id: InboxId,
        last: Option<&str>,
    ) -> Result<Feed> {
        let (inbox, version) = self.inboxes.versioned(by.team, id).await?;
        let follower = self.follower(by.team, id)?;
        let ends = ends(inbox.expires_at, self.clock.now());
        let start = self.ids.next();
        let losses = self.subscribe_losses();
        let signals = self.bus.subscribe(id).await?;
        let shared = !self.is_alone;
        let mut feed = Feed {
            live: self.clone(),
            inbox,
            by: *by,
            version,
            counted_at: Uuid::nil(),
            signals,
            ready: VecDeque::new(),
            replay: None,
            deleted: None,
            cursor: Uuid::nil(),
            seen: SeenWindow::after(Uuid::nil()),
            recent: RecentChanges::from(start),
            shared,
            losses,
            resyncs: ResyncQueue::default(),
            gap: false,
            reorder_until: None,
            ends,
            counts: None,
            follower,
            _counted: metrics::open_stream(),
        };
        match last {
            Some(last) => {
                let bookmark = Bookmark::read(last, id, self.clock.now());
                self.read_for_stream(id, feed.resume(bookmark)).await?;
            }
            None => self.read_for_stream(id, feed.start_live(start)).await?,
        }
        Ok(feed)
    }
}

impl Feed {
    /// Where a client goes on that loses the stream before its first event.
    #[must_use]
    pub fn position(&self) -> String {
        let seen = self.shared.then(|| self.seen.checksum());
        Bookmark { last: self.id_of(self.cursor), seen }.to_string()
    }

    /// The time in which the client is to be written to no more than once: the more streams there are
    /// of its inbox, the longer, so that a second's events cost so many writes and not more.
    #[must_use]
    pub fn pause(&self) -> Duration {
        self.follower.write_interval()
    }

    /// The next event; `None` when the inbox is gone or the service shuts down.
    pub async fn next(&mut self) -> Option<FeedEvent> {
        let shutdown = self.live.shutdown.clone();
        shutdown.run_until_cancelled(self.next_or_error()).await.flatten()
    }

    async fn next_or_error(&mut self) -> Option<FeedEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match self.step().await {
                Ok(true) => {}
                Ok(false) | Err(Error::NotFound) => return None,
                // A store that does not answer is no reason to end a stream that others feed.
                Err(error) => {
                    tracing::warn!(%error, "an event stream could not read the store");
                    self.replay_from_store();
                    tokio::time::sleep(STORE_RETRY_DELAY).await;
                }
            }
        }
    }

    /// Plans to emit the stored messages that the client was not told of, after missed announcements.
    fn replay_from_store(&mut self) {
        self.note_missed_events();
        self.replay = Some(Replay::after(self.seen.floor()));
    }

    /// Notes that events other than new messages may have been missed.
    fn note_missed_events(&mut self) {
        self.gap = true;
        self.recent.missed(self.live.ids.next());
    }

    /// Does one thing that may make an event ready. Returns whether the inbox is still there.
    async fn step(&mut self) -> Result<bool> {
        if self.ends.is_some_and(|ends| ends <= Instant::now()) {
            return Ok(false);
        }
        if let Some(deleted) = &mut self.deleted {
            match deleted.next() {
                Some(ids) => self.emit_deleted(&ids),
                None => self.deleted = None,
            }
            return Ok(true);
        }
        if self.replay.is_some() {
            let (live, id) = (self.live.clone(), self.inbox.id);
            // In a box, so that a silent stream holds no room for it.
            Box::pin(live.read_for_stream(id, self.emit_page())).await?;
            return Ok(true);
        }
        if self.resyncs.is_empty() && std::mem::take(&mut self.gap) {
            Box::pin(self.emit_inbox_now(None)).await?;
            return Ok(true);
        }
        match self.wake().await {
            StreamWake::Heard(Signal::Event(event)) => Box::pin(self.on_event(event)).await,
            StreamWake::Heard(Signal::Lagged) => {
                self.replay_from_store();
                Ok(true)
            }
            StreamWake::Heard(Signal::Gap) => {
                self.note_missed_events();
                self.plan_resync();
                Ok(true)
            }
            StreamWake::Lost => {
                self.plan_resync();
                Ok(true)
            }
            StreamWake::Resynced(found) => {
                self.compare(&found);
                Ok(true)
            }
            StreamWake::Counted(counted) => {
                self.tell_inbox(counted.inbox.clone(), None);
                Ok(true)
            }
            StreamWake::Over => Ok(false),
        }
    }

    /// Sleeps until something may be there to tell.
    async fn wake(&mut self) -> StreamWake {
        let Self { signals, losses, resyncs, ends, counts, .. } = self;
        let ends = async {
            match *ends {
                Some(ends) => tokio::time::sleep_until(ends).await,
                None => pending().await,
            }
        };
        tokio::select! {
            signal = signals.next() => signal.map_or(StreamWake::Over, StreamWake::Heard),
            () = lost(losses) => StreamWake::Lost,
            found = resyncs.found() => found.map_or(StreamWake::Lost, StreamWake::Resynced),
            counted = OtherCounts::next(counts) => StreamWake::Counted(counted),
            () = ends => StreamWake::Over,
        }
    }

    /// Asks for a read of the inbox: messages may be stored that nobody announced.
    fn plan_resync(&mut self) {
        self.resyncs.plan(&self.live.resyncs, self.inbox.id, self.seen.floor());
    }

    /// Plans to emit what a resync found, unless the client was told of all of it.
    fn compare(&mut self, found: &NewestMessages) {
        let floor = self.seen.floor();
        self.replay = match found.after(floor) {
            Some(ids) if ids.iter().all(|id| self.seen.contains(*id)) => None,
            Some(ids) => Some(Replay::of(ids.to_vec())),
            None => Some(Replay::after(floor)),
        };
    }

    /// Adds an event to those that the client takes.
    fn emit(&mut self, name: &'static str, data: Bytes) {
        self.ready.push_back(FeedEvent { id: self.position(), name, data });
    }

    fn id_of(&self, uuid: Uuid) -> MessageId {
        MessageId { inbox: self.inbox.id, uuid }
    }
}

/// Why a stream wakes.
enum StreamWake {
    /// The bus has a signal.
    Heard(Signal),
    /// A process may have stored messages without announcing them.
    Lost,
    /// A resync found these messages.
    Resynced(Arc<NewestMessages>),
    /// Another inbox was counted.
    Counted(Arc<CountedInbox>),
    /// The inbox expired, or the bus is gone.
    Over,
}

/// Returns when mail may be stored that nobody announced.
pub(super) async fn lost(losses: &mut watch::Receiver<u64>) {
    // A process that is alone watches nobody.
    if losses.changed().await.is_err() {
        pending::<()>().await;
    }
}

/// When streams and waits of a disposable inbox end.
pub(super) fn ends(expires_at: Option<Time>, now: Time) -> Option<Instant> {
    expires_at.map(|at| Instant::now() + at.since(now))
}
