//! Whether a message is within its inbox's bound on messages.

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use tokio::time::timeout;
use trapline_model::{InboxId, MessageId};
use trapline_store::{
    Scan, Store, Value,
    records::{Inbox, Message},
};
use uuid::Uuid;

use crate::{Result, inbox_versions::InboxVersions, message_scans::message_keys};

/// Inboxes in the cache.
const CACHE_CAPACITY: u64 = 10_000;
/// How long a read waits for the inbox's version before it counts the newer messages instead.
const VERSION_TIMEOUT: Duration = Duration::from_millis(50);

/// Counts the messages that are newer than one, which are as many as the inbox may hold, and
/// remembers the answer while the inbox does not change.
pub(super) struct MessageBound {
    store: Arc<dyn Store>,
    versions: Arc<InboxVersions>,
    within: Cache<InboxId, Within>,
}

/// What was found of an inbox at one of its versions: this message, and so every newer one, is within
/// the bound of as many messages.
#[derive(Clone, Copy)]
struct Within {
    version: u64,
    max: usize,
    oldest: Uuid,
}

impl MessageBound {
    pub(super) fn new(store: Arc<dyn Store>, versions: Arc<InboxVersions>) -> Self {
        Self { store, versions, within: Cache::new(CACHE_CAPACITY) }
    }

    /// Whether the message is one of the newest that the inbox may hold, whether or not it is there.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(super) async fn contains(&self, inbox: &Inbox, id: MessageId) -> Result<bool> {
        let max = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        // Read before the messages are counted: one that comes meanwhile makes the version old.
        let version = timeout(VERSION_TIMEOUT, self.versions.of_many(&[inbox.id])).await;
        let version = version.ok().and_then(|versions| versions.first().copied().flatten());
        let known = version.and_then(|version| self.known(inbox, version, max));
        if known.is_some_and(|oldest| oldest <= id.uuid) {
            return Ok(true);
        }
        let until = Some(vec![Value::Uuid(id.uuid)]);
        let newer = Scan { until, ..message_keys(inbox.id, max.saturating_add(1)) };
        let is_within = self.store.scan(newer).await?.len() <= max;
        if let Some(version) = version.filter(|_| is_within) {
            self.within.insert(inbox.id, Within { version, max, oldest: id.uuid });
        }
        Ok(is_within)
    }

    /// Those of these messages, newest first, that are among the newest that the inbox may hold.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(super) async fn within(&self, inbox: &Inbox, mut ids: Vec<Uuid>) -> Result<Vec<Uuid>> {
        let Some(oldest) = ids.last().copied() else { return Ok(ids) };
        if self.contains(inbox, MessageId { inbox: inbox.id, uuid: oldest }).await? {
            return Ok(ids);
        }
        let max = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        let rows = self.store.scan(message_keys(inbox.id, max)).await?;
        let oldest = rows.last().map(Message::id);
        ids.retain(|id| oldest.is_some_and(|oldest| *id >= oldest));
        Ok(ids)
    }

    /// The oldest message that is known to be within the bound at this version.
    fn known(&self, inbox: &Inbox, version: u64, max: usize) -> Option<Uuid> {
        let within = self.within.get(&inbox.id)?;
        (within.version == version && within.max == max).then_some(within.oldest)
    }
}
