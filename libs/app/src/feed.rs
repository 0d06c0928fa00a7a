//! An inbox's live events as a client follows them, with what it missed.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::{sync::OwnedSemaphorePermit, time::Instant};
use trapline_model::{InboxId, MessageId, TeamId};
use trapline_store::{LiveEvent, Signal, SignalStream, records};
use uuid::Uuid;

use crate::{App, Error, Result, messages::rows_of, metrics};

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
    /// Messages that a replay told of and the bus may tell of again.
    replayed: HashSet<Uuid>,
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
            cursor: self.ids.next(),
            replayed: HashSet::new(),
            ends,
            _permit: permit,
            _counted: metrics::open_stream(),
        };
        if let Some(last) = last.filter(|last| last.inbox == id) {
            feed.cursor = last.uuid;
            feed.replay().await?;
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
            let signal = match self.ends {
                Some(ends) => tokio::time::timeout_at(ends, self.signals.next()).await.ok()??,
                None => self.signals.next().await?,
            };
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
                if !self.replayed.remove(id) {
                    self.cursor = self.cursor.max(*id);
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

    /// Tells of every message newer than the cursor, oldest first.
    async fn replay(&mut self) -> Result<()> {
        let limit = usize::try_from(self.inbox.max_messages).unwrap_or(usize::MAX);
        let until = Some(vec![trapline_store::Value::Uuid(self.cursor)]);
        let scan = trapline_store::Scan { until, ..rows_of(self.inbox.id, None, limit) };
        let mut rows = self.app.ports.store.scan(scan).await?;
        rows.retain(|row| records::Message::id(row) > self.cursor);
        self.replayed.clear();
        for row in rows.iter().rev() {
            let uuid = records::Message::id(row);
            self.cursor = uuid;
            self.replayed.insert(uuid);
            let id = self.id_of(uuid);
            let is_read = self.app.is_read(id).await?;
            let summary = crate::messages::summary(id, records::Message::of(row)?, is_read);
            let data = json!({ "inboxId": self.inbox.id, "message": summary });
            self.tell("message.created", data);
        }
        Ok(())
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
