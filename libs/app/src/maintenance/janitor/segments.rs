//! Checks segments: compacts one of which half is deleted, and removes one of which all is.

use std::{collections::HashMap, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trapline_model::{InboxId, MessageId};
use trapline_store::{
    Group, Op, PortError, Scan, Value, When, load,
    records::{MaintenanceTask, Message, Moved, SegmentAlias, TaskKind},
    segment::{self, Builder, Class, Entry, Footer},
};
use uuid::Uuid;

use crate::{
    Result, maintenance::Maintenance, message_scans::message_keys, rows::Pages,
    segment_reviews::first_check,
};

const HOUR: Duration = Duration::from_hours(1);
/// Longest time between two checks of a segment of which no message was deleted.
const MAX_CHECK_INTERVAL: Duration = Duration::from_hours(30 * 24);
/// How long a compacted segment stays, for readers that looked a message up before it moved.
const MOVED_GRACE: Duration = Duration::from_mins(10);
/// What is read of a segment first: the footer of about 1,200 messages.
const FOOTER_READ_BYTES: u64 = 64 << 10;
/// Inboxes whose messages are looked up at the same time.
const MAX_CONCURRENT_INBOXES: usize = 16;
/// Keys of an inbox read at a time.
const PAGE_KEYS: usize = 1_000;
/// How often a segment may have been compacted since a message in it was written.
const MAX_MOVES: usize = 16;

/// Time until the next check: 2 h, then twice as long each time.
fn next_check(visits: u32) -> Duration {
    HOUR.saturating_mul(2_u32.saturating_pow(visits.saturating_add(1))).min(MAX_CHECK_INTERVAL)
}

/// The state of a segment after a check.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SegmentState {
    /// There is none of this name.
    Missing,
    /// It was removed, or is to be: its messages are gone or moved.
    Removed,
    /// It stays as it is.
    Kept,
}

/// Which segments are compacted that have living messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compaction {
    /// Those of which at least half of the bytes are of deleted messages.
    OfHalfDead,
    /// Those with any deleted message.
    OfAnyDead,
}

impl Compaction {
    /// Whether a segment with so many bytes, so many of them living, is one of these.
    fn is_of(self, all: u64, living: u64) -> bool {
        match self {
            Self::OfHalfDead => living.saturating_mul(2) <= all,
            Self::OfAnyDead => living < all,
        }
    }
}

impl Maintenance {
    /// Checks a segment. Returns the task of the next check; `None` when there is nothing left to check.
    pub(super) async fn check_segment(
        &self,
        name: &str,
        visits: u32,
        aliases: &[String],
    ) -> Result<Option<MaintenanceTask>> {
        let found = self.check_and_compact(name, aliases, Compaction::OfHalfDead).await?;
        // A review that did not know the aliases removed it, or compacted it: then they lead on.
        let leads_on = found == SegmentState::Missing
            && !aliases.is_empty()
            && self.alias(name).await?.is_some();
        if found == SegmentState::Missing && !leads_on {
            self.remove_aliases(aliases).await?;
        }
        if found != SegmentState::Kept && !leads_on {
            return Ok(None);
        }
        let task = TaskKind::CheckSegment { visits: visits + 1, aliases: aliases.to_vec() };
        let due = self.clock.now().after(next_check(visits));
        Ok(Some(MaintenanceTask::new(due, name.to_owned(), task)))
    }

    /// Checks a segment, or the one that its messages moved to. Aliases are left to the regular check.
    pub(super) async fn review_segment(&self, name: &str, which: Compaction) -> Result<()> {
        let mut name = name.to_owned();
        for _ in 0..MAX_MOVES {
            if self.check_and_compact(&name, &[], which).await? != SegmentState::Missing {
                return Ok(());
            }
            let alias = self.alias(&name).await?;
            match alias.and_then(|alias| alias.moved.into_iter().next()) {
                Some(moved) => name = moved.to.segment,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    async fn alias(&self, name: &str) -> Result<Option<SegmentAlias>> {
        let found = load::<SegmentAlias>(&*self.store, &SegmentAlias::row(name)).await?;
        Ok(found.map(|(alias, _)| alias))
    }

    /// Removes a segment without living messages, or compacts one with dead ones. Only the footer is read
    /// of one that stays.
    pub(super) async fn check_and_compact(
        &self,
        name: &str,
        aliases: &[String],
        which: Compaction,
    ) -> Result<SegmentState> {
        let Some(entries) = self.entries_of(name).await? else { return Ok(SegmentState::Missing) };
        let living = self.living_in(name, &entries).await?;
        if living.is_empty() {
            self.remove_segment(name, aliases).await?;
            return Ok(SegmentState::Removed);
        }
        if !which.is_of(size(&entries), size(&living)) {
            return Ok(SegmentState::Kept);
        }
        let Some(bytes) = self.blobs.segment(name).await? else { return Ok(SegmentState::Missing) };
        if !living.iter().all(|entry| segment::verify(entry, &bytes)) {
            // A copy would have a checksum of its own, and pass damaged bytes as whole.
            tracing::error!(segment = name, "a segment is damaged and stays as it is");
            return Ok(SegmentState::Kept);
        }
        self.compact(name, &bytes, living, aliases).await?;
        Ok(SegmentState::Removed)
    }

    /// What a segment holds, by its footer; `None` when it is not there.
    async fn entries_of(&self, name: &str) -> Result<Option<Vec<Entry>>> {
        let mut length = FOOTER_READ_BYTES;
        loop {
            let Some(tail) = self.blobs.tail(name, length).await? else { return Ok(None) };
            match segment::footer(&tail.bytes, tail.size) {
                Ok(Footer::Whole(entries)) => return Ok(Some(entries)),
                Ok(Footer::Longer(needed)) => length = needed,
                Err(error) => {
                    tracing::error!(%error, segment = name, "a segment is damaged");
                    return Err(PortError::Damaged(name.to_owned()).into());
                }
            }
        }
    }

    pub(super) async fn remove_segment(&self, name: &str, aliases: &[String]) -> Result<()> {
        self.blobs.remove(name).await?;
        self.remove_aliases(aliases).await
    }

    async fn remove_aliases(&self, aliases: &[String]) -> Result<()> {
        let delete =
            |alias: &String| Op::Delete { key: SegmentAlias::row(alias), when: When::Always };
        Ok(self.store.write(aliases.iter().map(delete).collect()).await?)
    }

    /// The entries whose message is still there and still in this segment, wherever its row says
    /// that it was first put.
    async fn living_in(&self, name: &str, entries: &[Entry]) -> Result<Vec<Entry>> {
        let mut inboxes: HashMap<InboxId, Vec<Entry>> = HashMap::new();
        for entry in entries {
            inboxes.entry(entry.id.inbox).or_default().push(*entry);
        }
        let reads: Vec<_> =
            inboxes.into_iter().map(|(inbox, entries)| self.living_of(inbox, entries)).collect();
        let found = stream::iter(reads).buffer_unordered(MAX_CONCURRENT_INBOXES);
        let mut living: Vec<Entry> = found.try_concat().await?;
        living.sort_by_key(|entry| (entry.offset, entry.len, entry.id.uuid));
        tracing::debug!(segment = name, living = living.len(), "a segment was checked");
        Ok(living)
    }

    /// Reads the keys between the oldest and the newest of the entries: those of one group are
    /// neighbours in their inbox.
    async fn living_of(&self, inbox: InboxId, mut entries: Vec<Entry>) -> Result<Vec<Entry>> {
        entries.sort_by_key(|entry| entry.id.uuid);
        let (Some(oldest), Some(newest)) = (entries.first(), entries.last()) else {
            return Ok(entries);
        };
        let until = Some(vec![Value::Uuid(oldest.id.uuid)]);
        let after = above(newest.id.uuid).map(|id| vec![Value::Uuid(id)]);
        let mut living = Vec::with_capacity(entries.len());
        let keys = Scan { after, until, ..message_keys(inbox, PAGE_KEYS) };
        let mut pages = Pages::of(&*self.store, keys);
        while let Some(rows) = pages.next().await? {
            for id in rows.iter().map(Message::id) {
                let first = entries.partition_point(|entry| entry.id.uuid < id);
                living.extend(entries[first..].iter().take_while(|entry| entry.id.uuid == id));
            }
        }
        Ok(living)
    }

    /// Copies the living into a segment of their own and leaves an alias for readers.
    async fn compact(
        &self,
        name: &str,
        bytes: &Bytes,
        living: Vec<Entry>,
        aliases: &[String],
    ) -> Result<()> {
        let class = segment::class_of(name).unwrap_or(Class::Keep);
        let target = segment::name(class, self.ids.next());
        let mut builder = Builder::new();
        let mut moved: Vec<Moved> = Vec::new();
        for (place, ids) in by_place(&living) {
            let (from, to) = (index(place.0), index(place.0.saturating_add(place.1)));
            let Some(message) = bytes.get(from..to) else { continue };
            let to = builder.add(&ids, message).within(&target);
            moved.push(Moved { offset: place.0, to });
        }
        let alias = SegmentAlias { segment: name.to_owned(), moved };
        // An alias that led here leads on from here, so it stays until the new segment goes.
        let mut leading: Vec<String> = aliases.to_vec();
        leading.push(name.to_owned());
        let now = self.clock.now();
        let check = TaskKind::CheckSegment { visits: 0, aliases: leading };
        let check = MaintenanceTask::new(now.after(first_check(class)), target.clone(), check);
        let remove = TaskKind::RemoveSegment { aliases: Vec::new() };
        let remove = MaintenanceTask::new(now.after(MOVED_GRACE), name.to_owned(), remove);
        let (before, rows) = (vec![check.planned()?], Vec::new());
        let bytes = builder.finish();
        let group = Group { segment: target, bytes, before, rows, job: None };
        self.intake.commit(group).await?;
        // In this order: the old segment must not go before readers are led to the new one. Cut off
        // in between, the visit is repeated, and the next copy's alias takes this one's place.
        let put = Op::put(&alias, None, When::Always)?;
        Ok(self.store.write(vec![put, remove.planned()?]).await?)
    }
}

/// The next larger id; a scan that begins after it includes `id`.
fn above(id: Uuid) -> Option<Uuid> {
    let above = Uuid::from_u128(id.as_u128().checked_add(1)?);
    trapline_store::is_v7(above).then_some(above)
}

/// Messages that share their bytes stay together. The entries are sorted by place.
fn by_place(entries: &[Entry]) -> Vec<((u64, u64), Vec<MessageId>)> {
    let mut positions: Vec<((u64, u64), Vec<_>)> = Vec::new();
    for entry in entries {
        let place = (entry.offset, entry.len);
        match positions.last_mut() {
            Some((last, ids)) if *last == place => ids.push(entry.id),
            _ => positions.push((place, vec![entry.id])),
        }
    }
    positions
}

fn size(entries: &[Entry]) -> u64 {
    by_place(entries).iter().map(|((_, len), _)| len).sum()
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
