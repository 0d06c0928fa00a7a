//! Live events of inboxes.

use std::sync::Arc;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, TeamId};
use uuid::Uuid;

use super::Result;

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
    },
    /// A message was marked read or unread.
    MessageUpdated {
        /// The message within its inbox.
        id: Uuid,
    },
    /// Messages are gone.
    MessagesDeleted {
        /// The messages within their inbox.
        ids: Vec<Uuid>,
    },
    /// All messages are gone.
    InboxEmptied,
    /// The inbox's own record or all its read marks changed.
    InboxUpdated,
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

/// What a subscriber hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// An event.
    Event(Arc<LiveEvent>),
    /// Events may have been lost: read the store again.
    Gap,
}

/// Signals until the bus is gone.
pub type SignalStream = BoxStream<'static, Signal>;

/// Fans events out to who listens; keeps none.
#[async_trait]
pub trait Bus: Send + Sync {
    /// Sends to whoever is subscribed now.
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()>;
    /// Takes note of an event that is not published because too many wait for a backend that does not
    /// answer: whoever is subscribed hears a `Gap` once it does. Nothing where publishing needs no
    /// backend.
    fn left_out(&self, _inbox: InboxId) {}
    /// Returns when active: later events reach the stream, or a `Gap` does. Dropping the stream
    /// ends the subscription.
    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream>;
}
