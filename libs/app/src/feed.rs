//! An inbox's live events as a client follows them, with what it missed.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::{sync::OwnedSemaphorePermit, time::Instant};
use trapline_model::{InboxId, MessageId, TeamId};
use trapline_store::{LiveEvent, Signal, SignalStream, records};
use uuid::Uuid;

use crate::{App, Error, Result, messages::rows_of, metrics};

/// How often a stream reads the store though nothing was announced: a process that is killed between
/// storing a message and announcing it announces nothing.
const POLL: Duration = Duration::from_secs(30);
/// Among processes, messages are not seen in the order of their ids: one whose process was slow to
/// store it comes after younger ones. So much older than the newest one it may be, with a [`POLL`]
/// in between.
const BEHIND: Duration = Duration::from_mins(1);

/// An event as it goes to the client.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedEvent {
    /// What a client sends as `Last-Event-ID` to get what came after.
    pub id: String,
    /// `message.created`, `message.updated`, `message.deleted` or `inbox.updated`.
    pub name: &'static str,
    /// The payload.
    pub data: Value,
}

/// A client's view of one inbox; dropping it ends the subscription.
pub struct Feed {
    app: Arc<App>,
    inbox: records::Inbox,
    signals: SignalStream,
    ready: VecDeque<FeedEvent>,
    /// The newest message that the client was told of.
    cursor: Uuid,
    /// Nothing up to this one is told of again.
    start: Uuid,
    /// Messages that the client was told of, no older than [`BEHIND`].
    told: BTreeSet<Uuid>,
    /// When the store is read next, where other processes write to it.
    look: Option<Instant>,
    ends: Option<Instant>,
    _permit: OwnedSemaphorePermit,
    _counted: metrics::Gauged,
}

impl App {
    /// Follows an inbox. With `last`, the messages after that one come first.
    pub async fn feed(
        self: &Arc<Self>,
        team: TeamId,
        id: InboxId,
        last: Option<MessageId>,
    ) -> Result<Feed> {
        let inbox = self.inbox_record(team, id).await?;
        let permit = self.stream_permit()?;
        let ends = inbox.expires_at.map(|at| Instant::now() + at.since(self.now()));
        let signals = self.ports.bus.subscribe(id).await?;
        let mut feed = Feed {
            app: self.clone(),
            inbox,
            signals,
            ready: VecDeque::new(),
            cursor: Uuid::nil(),
            start: Uuid::nil(),
            told: BTreeSet::new(),
            look: (!self.ports.queue.durable()).then(|| Instant::now() + POLL),
            ends,
            _permit: permit,
            _counted: metrics::open_stream(),
        };
        if let Some(last) = last.filter(|last| last.inbox == id) {
            feed.cursor = last.uuid;
            feed.told.insert(last.uuid);
            feed.start = feed.floor();
            feed.replay().await?;
        } else {
            feed.cursor = self.ids.next();
            feed.start = feed.cursor;
        }
        Ok(feed)
    }
}

impl Feed {
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
            let wake = self.ends.into_iter().chain(self.look).min();
            let signal = match wake {
                Some(wake) => tokio::time::timeout_at(wake, self.signals.next()).await,
                None => Ok(self.signals.next().await),
            };
            let Ok(signal) = signal else {
                if self.ends.is_some_and(|ends| ends <= Instant::now()) {
                    return None;
                }
                self.poll().await;
                continue;
            };
            let signal = signal?;
            match self.hear(signal).await {
                Ok(true) => {}
                // The inbox is gone, or the client is better off asking anew.
                Ok(false) | Err(Error::NotFound) => return None,
                Err(error) => {
                    tracing::warn!(%error, "an event stream ended");
                    return None;
                }
            }
        }
    }

    async fn hear(&mut self, signal: Signal) -> Result<bool> {
        let event = match signal {
            Signal::Gap => {
                self.replay().await?;
                self.inbox_updated().await?;
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
            LiveEvent::MessagesDeleted { ids } => {
                let ids: Vec<_> = ids.iter().map(|id| self.id_of(*id)).collect();
                self.tell("message.deleted", json!({ "inboxId": self.inbox.id, "ids": ids }));
            }
            LiveEvent::InboxEmptied => {
                let data = json!({ "inboxId": self.inbox.id, "ids": [], "all": true });
                self.tell("message.deleted", data);
            }
            LiveEvent::InboxUpdated => self.inbox_updated().await?,
            LiveEvent::InboxDeleted => return Ok(false),
            LiveEvent::LoginChanged { .. } | LiveEvent::HooksChanged { .. } => {}
        }
        Ok(true)
    }

    /// A store that does not answer is no reason to end a stream that others feed.
    async fn poll(&mut self) {
        self.look = Some(Instant::now() + POLL);
        if let Err(error) = self.replay().await {
            tracing::warn!(%error, "an event stream could not read the store");
        }
    }

    /// Tells of every message that the client has not been told of, oldest first.
    async fn replay(&mut self) -> Result<()> {
        let limit = usize::try_from(self.inbox.max_messages).unwrap_or(usize::MAX);
        let floor = self.floor().max(self.start);
        let until = Some(vec![trapline_store::Value::Uuid(floor)]);
        let scan = trapline_store::Scan { until, ..rows_of(self.inbox.id, None, limit) };
        let mut rows = self.app.ports.store.scan(scan).await?;
        rows.retain(|row| records::Message::id(row) > floor);
        for row in rows.iter().rev() {
            let uuid = records::Message::id(row);
            if self.told.contains(&uuid) {
                continue;
            }
            let id = self.id_of(uuid);
            let is_read = self.app.is_read(id).await?;
            let summary = crate::messages::summary(id, records::Message::of(row)?, is_read);
            let data = json!({ "inboxId": self.inbox.id, "message": summary });
            if self.is_new(uuid) {
                self.tell("message.created", data);
            }
        }
        Ok(())
    }

    /// What a replay goes back to. One process alone stores messages in the order of their ids.
    fn floor(&self) -> Uuid {
        if self.app.ports.queue.durable() { self.cursor } else { behind(self.cursor) }
    }

    /// Takes note that the client is told of a message, unless it was.
    fn is_new(&mut self, id: Uuid) -> bool {
        self.cursor = self.cursor.max(id);
        let is_new = self.told.insert(id);
        let floor = behind(self.cursor);
        while self.told.first().is_some_and(|first| *first < floor) {
            self.told.pop_first();
        }
        is_new
    }

    async fn tell_message(&mut self, name: &'static str, uuid: Uuid) -> Result<()> {
        match self.app.message_summary(self.inbox.team, self.id_of(uuid)).await {
            Ok(message) => {
                self.tell(name, json!({ "inboxId": self.inbox.id, "message": message }));
                Ok(())
            }
            // Deleted meanwhile, which an event of its own tells.
            Err(Error::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn inbox_updated(&mut self) -> Result<()> {
        let inbox = self.app.inbox(self.inbox.team, self.inbox.id).await?;
        self.tell("inbox.updated", json!({ "inbox": inbox }));
        Ok(())
    }

    fn tell(&mut self, name: &'static str, data: Value) {
        let id = self.id_of(self.cursor).to_string();
        self.ready.push_back(FeedEvent { id, name, data });
    }

    fn id_of(&self, uuid: Uuid) -> MessageId {
        MessageId { inbox: self.inbox.id, uuid }
    }
}

/// The least id of the time that is [`BEHIND`] an id's.
fn behind(id: Uuid) -> Uuid {
    let millis = (id.as_u128() >> 80).saturating_sub(BEHIND.as_millis());
    Uuid::from_u128(millis << 80)
}
