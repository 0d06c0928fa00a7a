//! An inbox's live events as a client follows them, with what it missed.
//!
//! A feed holds little, whatever happens in its inbox and however slowly its client takes it: a page
//! of events, the keys that it still has to tell of, and what the bus keeps for it. Who falls behind
//! that is told of a gap and reads the store, page by page.

mod bookmark;
mod deleted;
mod payload;
mod replay;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::json;
use tokio::time::Instant;
use trapline_model::{InboxId, MessageId, TeamId, Time};
use trapline_store::{LiveEvent, Signal, SignalStream, records};
use uuid::Uuid;

use crate::{App, Error, Result, Secrecy, metrics, streams::Follower};
pub(crate) use bookmark::behind;
use bookmark::{Bookmark, Told};
use deleted::Deleted;
pub(crate) use payload::Payloads;
use replay::Replay;

/// How often a stream reads the store though nothing was announced: a process that is killed between
/// storing a message and announcing it announces nothing.
const POLL: Duration = Duration::from_secs(30);
/// When a stream looks again after the store did not answer.
const RETRY: Duration = Duration::from_secs(2);

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
    app: Arc<App>,
    inbox: records::Inbox,
    secrecy: Secrecy,
    signals: SignalStream,
    ready: VecDeque<FeedEvent>,
    replay: Option<Replay>,
    deleted: Option<Deleted>,
    /// The newest message that the client was told of.
    cursor: Uuid,
    told: Told,
    /// Whether other processes write to the store.
    shared: bool,
    /// When the store is read next, whatever the bus says.
    look: Option<Instant>,
    /// Whether something else than new messages may have been missed.
    gap: bool,
    ends: Option<Instant>,
    follower: Follower,
    _counted: metrics::Gauged,
}

impl App {
    /// Follows an inbox, for somebody who may see its password or not. With `last`, the id of an event,
    /// the messages after that one come first; all that are kept, if it is no id of this inbox's
    /// events.
    pub async fn feed(
        self: &Arc<Self>,
        team: TeamId,
        id: InboxId,
        secrecy: Secrecy,
        last: Option<&str>,
    ) -> Result<Feed> {
        let inbox = self.inbox_record(team, id).await?;
        let follower = self.follower(team, id)?;
        let ends = ends(inbox.expires_at, self.now());
        let signals = self.ports.bus.subscribe(id).await?;
        let shared = !self.ports.queue.durable();
        let mut feed = Feed {
            app: self.clone(),
            inbox,
            secrecy,
            signals,
            ready: VecDeque::new(),
            replay: None,
            deleted: None,
            cursor: Uuid::nil(),
            told: Told::after(Uuid::nil()),
            shared,
            look: shared.then(|| Instant::now() + POLL),
            gap: false,
            ends,
            follower,
            _counted: metrics::open_stream(),
        };
        match last {
            Some(last) => {
                let bookmark = Bookmark::read(last, id, self.now());
                self.read_for_stream(feed.go_on(bookmark)).await?;
            }
            None => self.read_for_stream(feed.begin()).await?,
        }
        Ok(feed)
    }
}

impl Feed {
    /// Where a client goes on that loses the stream before its first event.
    #[must_use]
    pub fn position(&self) -> String {
        let told = self.shared.then(|| self.told.sum());
        Bookmark { last: self.id_of(self.cursor), told }.to_string()
    }

    /// The time in which the client is to be written to no more than once: the more streams there are
    /// of its inbox, the longer, so that a second's events cost so many writes and not more.
    #[must_use]
    pub fn pause(&self) -> Duration {
        self.follower.pause()
    }

    /// The next event; `None` when the inbox is gone or the service shuts down.
    pub async fn next(&mut self) -> Option<FeedEvent> {
        let shutdown = self.app.shutdown.clone();
        shutdown.run_until_cancelled(self.following()).await.flatten()
    }

    async fn following(&mut self) -> Option<FeedEvent> {
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
                    self.look_again();
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Events may have been missed: what is in the store is told as far as it was not.
    fn look_again(&mut self) {
        self.gap = true;
        self.replay = Some(Replay::after(self.told.floor()));
    }

    /// Goes on until something may be ready; whether the inbox is still there.
    async fn step(&mut self) -> Result<bool> {
        if self.ends.is_some_and(|ends| ends <= Instant::now()) {
            return Ok(false);
        }
        let app = self.app.clone();
        if let Some(deleted) = &mut self.deleted {
            match deleted.next() {
                Some(ids) => self.tell_deleted(&ids),
                None => self.deleted = None,
            }
            return Ok(true);
        }
        if self.replay.is_some() {
            app.read_for_stream(self.tell_page()).await?;
            return Ok(true);
        }
        if std::mem::take(&mut self.gap) {
            app.read_for_stream(self.inbox_updated()).await?;
            return Ok(true);
        }
        let wake = self.ends.into_iter().chain(self.look).min();
        let signal = match wake {
            Some(wake) => tokio::time::timeout_at(wake, self.signals.next()).await,
            None => Ok(self.signals.next().await),
        };
        match signal {
            Ok(Some(signal)) => app.read_for_stream(self.hear(signal)).await,
            Ok(None) => Ok(false),
            Err(_elapsed) => {
                self.look = self.shared.then(|| Instant::now() + POLL);
                self.replay = Some(Replay::after(self.told.floor()));
                Ok(true)
            }
        }
    }

    async fn hear(&mut self, signal: Signal) -> Result<bool> {
        let event = match signal {
            Signal::Gap => {
                self.look_again();
                return Ok(true);
            }
            Signal::Event(event) => event,
        };
        match &*event {
            LiveEvent::MessageCreated { id, .. } => {
                if self.is_new(*id) {
                    self.tell_message("message.created", *id).await?;
                }
            }
            LiveEvent::MessageUpdated { id } => self.tell_message("message.updated", *id).await?,
            LiveEvent::MessagesDeleted { .. } => self.deleted = Some(Deleted::of(event.clone())),
            LiveEvent::InboxEmptied => {
                let data = json!({ "inboxId": self.inbox.id, "ids": [], "all": true });
                self.tell("message.deleted", data.to_string().into());
            }
            LiveEvent::InboxUpdated => self.inbox_updated().await?,
            LiveEvent::InboxDeleted => return Ok(false),
            LiveEvent::LoginChanged { .. } | LiveEvent::HooksChanged { .. } => {}
        }
        Ok(true)
    }

    /// Takes note that the client is told of a message, unless it was.
    fn is_new(&mut self, id: Uuid) -> bool {
        self.cursor = self.cursor.max(id);
        // In one process nothing is stored so late that its id is not kept any more.
        (self.shared || id > self.told.floor()) && self.told.insert(id)
    }

    async fn tell_message(&mut self, name: &'static str, uuid: Uuid) -> Result<()> {
        // One that was deleted meanwhile has an event of its own for that.
        if let Some(data) = self.app.payload_of(self.id_of(uuid)).await? {
            self.tell(name, data);
        }
        Ok(())
    }

    fn tell_deleted(&mut self, ids: &[Uuid]) {
        let ids: Vec<_> = ids.iter().map(|id| self.id_of(*id)).collect();
        let data = json!({ "inboxId": self.inbox.id, "ids": ids });
        self.tell("message.deleted", data.to_string().into());
    }

    async fn inbox_updated(&mut self) -> Result<()> {
        let inbox = self.app.inbox(self.inbox.team, self.inbox.id).await?;
        // It may have been given more time.
        self.ends = ends(inbox.expires_at, self.app.now());
        let inbox = match self.secrecy {
            Secrecy::Shown => inbox,
            Secrecy::Hidden => inbox.without_password(),
        };
        self.tell("inbox.updated", json!({ "inbox": inbox }).to_string().into());
        Ok(())
    }

    fn tell(&mut self, name: &'static str, data: Bytes) {
        self.ready.push_back(FeedEvent { id: self.position(), name, data });
    }

    fn id_of(&self, uuid: Uuid) -> MessageId {
        MessageId { inbox: self.inbox.id, uuid }
    }
}

/// When streams and waits of a disposable inbox end.
pub(crate) fn ends(expires_at: Option<Time>, now: Time) -> Option<Instant> {
    expires_at.map(|at| Instant::now() + at.since(now))
}
