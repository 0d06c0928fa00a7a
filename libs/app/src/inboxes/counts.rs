//! How many messages an inbox has, and how many of them are unread.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trapline_store::{Cache, Store, records};

use super::READS_AT_ONCE;
use crate::{
    Error, Result, inbox_versions::InboxVersions, message_scans::message_keys, parts::Parts,
    read_marks::ReadMarks,
};

/// How long counts are kept.
const CACHE_TTL: Duration = Duration::from_mins(1);

/// The counts of an inbox's messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub total: u64,
    pub unread: u64,
}

/// Counts messages, and remembers the counts while nothing changes.
pub(crate) struct MessageCounts {
    store: Arc<dyn Store>,
    cache: Arc<dyn Cache>,
    versions: Arc<InboxVersions>,
    marks: ReadMarks,
}

impl MessageCounts {
    pub(super) fn new(parts: &Parts) -> Self {
        Self {
            store: parts.ports.store.clone(),
            cache: parts.ports.cache.clone(),
            versions: parts.versions.clone(),
            marks: parts.read_marks.clone(),
        }
    }

    /// The counts of an inbox, from the cache while nothing changed.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn of(&self, inbox: &records::Inbox) -> Result<Counts> {
        let counts = self.of_many(std::slice::from_ref(inbox)).await?;
        counts.first().copied().ok_or(Error::Unavailable)
    }

    /// The counts of many inboxes, in their order.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(super) async fn of_many(&self, inboxes: &[records::Inbox]) -> Result<Vec<Counts>> {
        let ids: Vec<_> = inboxes.iter().map(|inbox| inbox.id).collect();
        let versions = self.versions.of_many(&ids).await;
        let keys: Vec<_> = ids.iter().map(|id| format!("counts:{id}")).collect();
        let mut kept = self.cache.get_many(&keys).await.unwrap_or_default();
        kept.resize(inboxes.len(), None);
        let counts = inboxes.iter().zip(versions).zip(kept).map(|((inbox, version), kept)| {
            let state = version.map(|version| [version, bound_of(inbox)]);
            let known = kept.zip(state).and_then(|(bytes, state)| decode(&bytes, state));
            self.known_or_recounted(inbox, version, known)
        });
        let counts: Vec<_> = counts.collect();
        stream::iter(counts).buffered(READS_AT_ONCE).try_collect().await
    }

    /// The version was read before the scan, so that a count that a change overtook is kept under a
    /// version that is already old. Without a version nothing is kept.
    async fn known_or_recounted(
        &self,
        inbox: &records::Inbox,
        version: Option<u64>,
        known: Option<Counts>,
    ) -> Result<Counts> {
        if let Some(counts) = known {
            return Ok(counts);
        }
        let counts = self.recount(inbox).await?;
        let Some(version) = version else { return Ok(counts) };
        let key = format!("counts:{}", inbox.id);
        let counted = encode(counts, [version, bound_of(inbox)]);
        if let Err(error) = self.cache.put(&key, counted, CACHE_TTL).await {
            tracing::debug!(%error, "counts were not kept");
        }
        Ok(counts)
    }

    async fn recount(&self, inbox: &records::Inbox) -> Result<Counts> {
        let limit = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        let rows = self.store.scan(message_keys(inbox.id, limit)).await?;
        if rows.is_empty() {
            return Ok(Counts::default());
        }
        let state = self.marks.state(inbox.id, None, None, limit).await?;
        let unread = rows.iter().filter(|row| !state.is_read(records::Message::id(row))).count();
        Ok(Counts { total: rows.len() as u64, unread: unread as u64 })
    }
}

/// Counts are of the newest messages, as many as the inbox may hold. A lower bound holds before the version tells
/// that what is beyond it was removed.
fn bound_of(inbox: &records::Inbox) -> u64 {
    u64::from(inbox.max_messages)
}

fn encode(counts: Counts, [version, bound]: [u64; 2]) -> Bytes {
    [version, bound, counts.total, counts.unread].map(u64::to_be_bytes).concat().into()
}

/// The counts, if they are of this version and bound.
fn decode(bytes: &Bytes, state: [u64; 2]) -> Option<Counts> {
    let mut numbers =
        bytes.chunks_exact(8).filter_map(|part| Some(u64::from_be_bytes(part.try_into().ok()?)));
    let kept = [numbers.next()?, numbers.next()?];
    let counts = Counts { total: numbers.next()?, unread: numbers.next()? };
    (kept == state).then_some(counts)
}
