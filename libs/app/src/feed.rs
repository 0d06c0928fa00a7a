//! An inbox's live events as a client follows them, with what it missed.

mod bookmark;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures_util::StreamExt;
use serde_json::json;
use tokio::{sync::OwnedSemaphorePermit, time::Instant};
use trapline_model::{InboxId, MessageId, TeamId};
use trapline_store::{LiveEvent, Row, Scan, Signal, SignalStream, Value, records};
use uuid::Uuid;

use crate::{App, Error, Result, messages::rows_of, metrics};
pub use bookmark::Bookmark;
use bookmark::Told;

/// How often a stream reads the store though nothing was announced: a process that is killed between
/// storing a message and announcing it announces nothing.
const POLL: Duration = Duration::from_secs(30);

/// An event as it goes to the client.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedEvent {
    /// What a client sends as `Last-Event-ID` to get what came after.
    pub id: String,
    /// `message.created`, `message.updated`, `message.deleted` or `inbox.updated`.
    pub name: &'static str,
    /// The payload.
    pub data: serde_json::Value,
}

/// A client's view of one inbox; dropping it ends the subscription.
pub struct Feed {
    app: Arc<App>,
    inbox: records::Inbox,
    signals: SignalStream,
    ready: VecDeque<FeedEvent>,
    /// The newest message that the client was told of.
    cursor: Uuid,
    told: Told,
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
        last: Option<Bookmark>,
    ) -> Result<Feed> {
        let inbox = self.inbox_record(team, id).await?;
        let permit = self.stream_permit()?;
        let ends = inbox.expires_at.map(|at| Instant::now() + at.since(self.now()));
        let signals = self.ports.bus.subscribe(id).await?;
        let last = last.filter(|last| last.last.inbox == id);
        let cursor = last.map_or_else(|| self.ids.next(), |last| last.last.uuid);
        let shared = !self.ports.queue.durable();
        let mut feed = Feed {
            app: self.clone(),
            inbox,
            signals,
            ready: VecDeque::new(),
            cursor,
            told: Told::after(cursor),
            look: shared.then(|| Instant::now() + POLL),
            ends,
            _permit: permit,
            _counted: metrics::open_stream(),
        };
        if let Some(last) = last {
            feed.go_on(last).await?;
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

    /// Tells of what the client lacks; of the last minute's messages again, if it lacks one of these.
    async fn go_on(&mut self, bookmark: Bookmark) -> Result<()> {
        let Some(sum) = bookmark.told else { return self.replay().await };
        self.told = Told::after(sum.floor);
        let rows = self.newer(sum.floor).await?;
        let known = rows.iter().map(records::Message::id).filter(|id| *id <= self.cursor);
        let known: Vec<_> = known.collect();
        if sum.is_of(known.iter().copied()) {
            for id in known {
                self.told.insert(id);
            }
        }
        self.tell_rows(rows).await
    }

    /// Reads the store, and tells of every message that the client has not been told of.
    async fn replay(&mut self) -> Result<()> {
        // One process alone stores messages in the order of their ids.
        let floor = if self.look.is_some() { self.told.sum().floor } else { self.cursor };
        let rows = self.newer(floor).await?;
        self.tell_rows(rows).await
    }

    /// Tells of those messages that the client has not been told of, oldest first.
    async fn tell_rows(&mut self, mut rows: Vec<Row>) -> Result<()> {
        rows.retain(|row| !self.told.contains(records::Message::id(row)));
        let Some(oldest) = rows.last().map(records::Message::id) else { return Ok(()) };
        let limit = self.limit();
        let marks = self.app.read_state(self.inbox.id, None, Some(oldest), limit).await?;
        for row in rows.iter().rev() {
            let uuid = records::Message::id(row);
            let message = records::Message::of(row)?;
            let summary = crate::messages::summary(self.id_of(uuid), message, marks.is_read(uuid));
            if self.is_new(uuid) {
                let data = json!({ "inboxId": self.inbox.id, "message": summary });
                self.tell("message.created", data);
            }
        }
        Ok(())
    }

    /// The stored messages after one, newest first.
    async fn newer(&mut self, floor: Uuid) -> Result<Vec<Row>> {
        let until = Some(vec![Value::Uuid(floor)]);
        let scan = Scan { until, ..rows_of(self.inbox.id, None, self.limit()) };
        let mut rows = self.app.ports.store.scan(scan).await?;
        rows.retain(|row| records::Message::id(row) > floor);
        Ok(rows)
    }

    fn limit(&self) -> usize {
        usize::try_from(self.inbox.max_messages).unwrap_or(usize::MAX)
    }

    /// Takes note that the client is told of a message, unless it was.
    fn is_new(&mut self, id: Uuid) -> bool {
        self.cursor = self.cursor.max(id);
        self.told.insert(id)
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

    fn tell(&mut self, name: &'static str, data: serde_json::Value) {
        let told = self.look.map(|_| self.told.sum());
        let id = Bookmark { last: self.id_of(self.cursor), told }.to_string();
        self.ready.push_back(FeedEvent { id, name, data });
    }

    fn id_of(&self, uuid: Uuid) -> MessageId {
        MessageId { inbox: self.inbox.id, uuid }
    }
}
