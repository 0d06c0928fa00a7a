//! Live events of inboxes.

use std::sync::Arc;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, TeamId};
use uuid::Uuid;

use super::Result;
use crate::records::{Inbox, InboxState, Message};

/// Something that happened in an inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LiveEvent {
    /// A message is there, whole.
    MessageCreated {
        /// The message within its inbox.
        id: Uuid,
        /// The header's and the envelope's sender.
        from: Vec<String>,
        /// Header and envelope recipients.
        to: Vec<String>,
        /// The decoded subject.
        subject: String,
        /// Whether these are only the beginnings of what the message has.
        #[serde(default)]
        cut: bool,
        /// The message's row, so that nobody has to read it who tells of the message. `None` from
        /// releases that did not send it, and where the row is long: listeners that are behind keep
        /// events in memory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        record: Option<Box<Message>>,
    },
    /// A message was marked read or unread.
    MessageUpdated {
        /// The message within its inbox.
        id: Uuid,
        /// What it is now, so that nobody has to read it who tells of it. `None` from releases that did
        /// not send it, and where the message's row is long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        marked: Option<Box<Marked>>,
    },
    /// Messages are gone.
    MessagesDeleted {
        /// The messages within their inbox.
        ids: Vec<Uuid>,
    },
    /// All messages are gone.
    InboxEmptied,
    /// The inbox's own record, or the read marks of all or many of its messages changed.
    InboxUpdated {
        /// What it is now. `None` where that could not be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changed: Option<Box<ChangedInbox>>,
    },
    /// The inbox is gone.
    InboxDeleted,
    /// What processes keep of an inbox's SMTP login is old. Sent under the nil id, which is no
    /// inbox's and which every process follows.
    LoginChanged {
        /// The SMTP user name.
        username: String,
    },
    /// What processes keep of a team's webhooks and forwarding rules is old. Sent under the nil id too.
    HooksChanged {
        /// The team.
        team: TeamId,
    },
}

/// A message that was marked read or unread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marked {
    /// Whether it was marked read.
    pub is_read: bool,
    /// When, as in its mark: a UUIDv7.
    pub at: Uuid,
    /// The message's row.
    pub record: Message,
}

/// An inbox that changed, as it was when this was announced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedInbox {
    /// The inbox's row.
    pub record: Inbox,
    /// The row's version.
    pub version: i64,
    /// How many messages it has.
    pub messages: u64,
    /// How many of them are unread.
    pub unread: u64,
    /// When these were counted: a UUIDv7.
    pub counted_at: Uuid,
    /// What holds for all its messages, if that is what changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<InboxState>,
    /// Which of its messages were marked together, if that is what changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<MarkedTogether>,
}

/// Messages of an inbox that were marked read or unread at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedTogether {
    /// The messages within their inbox, at most 200.
    pub ids: Vec<Uuid>,
    /// Whether they were marked read.
    pub is_read: bool,
    /// When, as in their marks: a UUIDv7.
    pub at: Uuid,
}

/// What a subscriber hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// An event.
    Event(Arc<LiveEvent>),
    /// Events may have been lost, perhaps of every inbox of the process: read the store again. Who
    /// hears this is one of many, and not all of them should read at once.
    Gap,
    /// This listener was too slow, and lost events that others heard.
    Lagged,
}

/// Signals until the bus is gone.
pub type SignalStream = BoxStream<'static, Signal>;

/// Fans events out to who listens; keeps none.
#[async_trait]
pub trait Bus: Send + Sync {
    /// Sends to whoever is subscribed now.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()>;
    /// Takes note of an event that is not published because too many wait for a backend that does not
    /// answer: whoever is subscribed hears a `Gap` once it does. Nothing where publishing needs no
    /// backend.
    fn left_out(&self, _inbox: InboxId) {}
    /// Returns when active: later events reach the stream, or a `Gap` does. Dropping the stream
    /// ends the subscription.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream>;
    /// How often the bus gave up telling listeners of other processes of what happened, be it with a
    /// gap: they must learn in another way that events are lost. A bus within a process never does.
    fn given_up(&self) -> u64 {
        0
    }
}
