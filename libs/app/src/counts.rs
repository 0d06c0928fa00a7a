//! How many messages an inbox has, and how many of them are unread.

use std::{collections::HashMap, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trapline_model::InboxId;
use trapline_store::{
    Key, Record, Scan, load,
    records::{self, InboxState, Mark},
};
use uuid::Uuid;

use crate::{App, Error, Result, inboxes::READS_AT_ONCE};

const KEPT: Duration = Duration::from_mins(1);

/// What the list of inboxes shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub total: u64,
    pub unread: u64,
}

/// Which messages of an inbox are read.
pub(crate) struct ReadState {
    all: Option<InboxState>,
    marks: HashMap<Uuid, (bool, Uuid)>,
}

impl ReadState {
    pub(crate) fn is_read(&self, message: Uuid) -> bool {
        is_read(message, self.marks.get(&message).copied(), self.all.as_ref())
    }

    /// When the last of it was marked; nil if nothing was.
    pub(crate) fn latest(&self) -> Uuid {
        let marks = self.marks.values().map(|(_, at)| *at);
        marks.chain(self.all.as_ref().map(|all| all.at)).max().unwrap_or_default()
    }
}

/// A mark (what, and when) holds unless the whole inbox was marked read after it.
pub(crate) fn is_read(message: Uuid, mark: Option<(bool, Uuid)>, all: Option<&InboxState>) -> bool {
    match mark {
        Some((is_read, at)) if all.is_none_or(|all| at > all.at) => is_read,
        _ => all.is_some_and(|all| message <= all.read_up_to),
    }
}

impl App {
    /// Counts, from the cache while nothing changed.
    pub(crate) async fn counts(&self, inbox: &records::Inbox) -> Result<Counts> {
        let counts = self.counts_of(std::slice::from_ref(inbox)).await?;
        counts.first().copied().ok_or(Error::Unavailable)
    }

    /// Counts of many inboxes, in their order.
    pub(crate) async fn counts_of(&self, inboxes: &[records::Inbox]) -> Result<Vec<Counts>> {
        let ids: Vec<_> = inboxes.iter().map(|inbox| inbox.id).collect();
        let versions = self.versions.of_many(&ids).await;
        let keys: Vec<_> = ids.iter().map(|id| format!("counts:{id}")).collect();
        let mut kept = self.ports.cache.get_many(&keys).await.unwrap_or_default();
        kept.resize(inboxes.len(), None);
        let counts = inboxes.iter().zip(versions).zip(kept).map(|((inbox, version), kept)| {
            let known = kept.zip(version).and_then(|(bytes, version)| decode(&bytes, version));
            self.known_or_recounted(inbox, version, known)
        });
        let counts: Vec<_> = counts.collect();
        stream::iter(counts).buffered(READS_AT_ONCE).try_collect().await
    }

    /// The mark was read before the scan, so that a count that a change overtook is kept under a mark
    /// that is already old. Without a mark nothing is kept.
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
        if let Err(error) = self.ports.cache.put(&key, encode(counts, version), KEPT).await {
            tracing::debug!(%error, "counts were not kept");
        }
        Ok(counts)
    }

    async fn recount(&self, inbox: &records::Inbox) -> Result<Counts> {
        let limit = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        let rows = self.ports.store.scan(message_keys(inbox.id, limit)).await?;
        if rows.is_empty() {
            return Ok(Counts::default());
        }
        let state = self.read_state(inbox.id, None, None, limit).await?;
        let unread = rows.iter().filter(|row| !state.is_read(records::Message::id(row))).count();
        Ok(Counts { total: rows.len() as u64, unread: unread as u64 })
    }

    /// The read state of the messages behind `after` up to `until`, in list order.
    pub(crate) async fn read_state(
        &self,
        inbox: InboxId,
        after: Option<Uuid>,
        until: Option<Uuid>,
        limit: usize,
    ) -> Result<ReadState> {
        let state: Option<(InboxState, i64)> =
            load(&*self.ports.store, &InboxState::row(inbox)).await?;
        let Key { table, partition, .. } =
            Mark::row(trapline_model::MessageId { inbox, uuid: Uuid::nil() });
        let value = |uuid: Uuid| vec![trapline_store::Value::Uuid(uuid)];
        let scan = Scan {
            table,
            partition,
            after: after.map(value),
            until: until.map(value),
            limit,
            keys_only: false,
        };
        let mut marks = HashMap::new();
        for row in self.ports.store.scan(scan).await? {
            let mark = Mark::of(&row)?;
            marks.insert(mark.id.uuid, (mark.is_read, mark.at));
        }
        Ok(ReadState { all: state.map(|(state, _)| state), marks })
    }

    /// Tells every reader that counts of this inbox are to be taken anew.
    pub(crate) async fn changed(&self, inbox: InboxId) {
        self.versions.changed(inbox).await;
    }
}

/// The keys of an inbox's newest messages.
pub(crate) fn message_keys(inbox: InboxId, limit: usize) -> Scan {
    let Key { table, partition, .. } = records::Message::all(inbox);
    Scan { table, partition, after: None, until: None, limit, keys_only: true }
}

fn encode(counts: Counts, version: u64) -> Bytes {
    [version, counts.total, counts.unread].map(u64::to_be_bytes).concat().into()
}

fn decode(bytes: &Bytes, version: u64) -> Option<Counts> {
    let mut numbers =
        bytes.chunks_exact(8).filter_map(|part| Some(u64::from_be_bytes(part.try_into().ok()?)));
    let kept = numbers.next()?;
    let counts = Counts { total: numbers.next()?, unread: numbers.next()? };
    (kept == version).then_some(counts)
}
