//! Segments: looked at now and then, compacted when half is dead, removed when all is.

use std::time::Duration;

use bytes::Bytes;
use trapline_store::{
    Group, Op, PortError, Record, When,
    records::{Chore, Message, Moved, SegmentAlias, Task},
    segment::{self, Builder, Class, Entry},
};

use crate::{App, Result};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
/// Readers that looked up a message just before it moved still find it for so long.
const GRACE: Duration = Duration::from_mins(10);

/// When a new segment is looked at first: a lasting one soon, one of a retention class when
/// everything in it is past its time.
pub(crate) fn first_visit(class: Class) -> Duration {
    match class {
        Class::H1 | Class::Keep => HOUR,
        Class::D1 => DAY,
        Class::D7 => 7 * DAY,
    }
}

fn next_visit(visits: u32) -> Duration {
    if visits == 0 { 5 * HOUR } else { DAY }
}

impl App {
    pub(super) async fn check_segment(
        &self,
        name: &str,
        visits: u32,
        aliases: &[String],
    ) -> Result<()> {
        if self.visit_segment(name, aliases).await? {
            return Ok(());
        }
        let task = Task::CheckSegment { visits: visits + 1, aliases: aliases.to_vec() };
        let due = self.now().after(next_visit(visits));
        self.plan(Chore::new(due, name.to_owned(), task)).await
    }

    /// Removes a segment without living messages, or compacts one that is half dead; whether either
    /// was done, or there is no such segment.
    pub(super) async fn visit_segment(&self, name: &str, aliases: &[String]) -> Result<bool> {
        let Some(bytes) = self.ports.blobs.segment(name).await? else { return Ok(true) };
        let entries = segment::entries(&bytes).map_err(|error| {
            tracing::error!(%error, segment = name, "a segment is damaged");
            PortError::Damaged(name.to_owned())
        })?;
        let living = self.living_in(name, entries.clone()).await?;
        if living.is_empty() {
            self.remove_segment(name, aliases).await?;
            return Ok(true);
        }
        if size(&living) * 2 > size(&entries) {
            return Ok(false);
        }
        if !living.iter().all(|entry| segment::verify(entry, &bytes)) {
            // A copy would have a checksum of its own, and pass damaged bytes as whole.
            tracing::error!(segment = name, "a segment is damaged and stays as it is");
            return Ok(false);
        }
        self.compact(name, &bytes, living, aliases).await?;
        Ok(true)
    }

    pub(super) async fn remove_segment(&self, name: &str, aliases: &[String]) -> Result<()> {
        self.ports.blobs.remove(name).await?;
        let delete =
            |alias: &String| Op::Delete { key: SegmentAlias::row(alias), when: When::Always };
        Ok(self.ports.store.write(aliases.iter().map(delete).collect()).await?)
    }

    /// The entries whose message is still there and still in this segment, wherever its row says
    /// that it was first put.
    async fn living_in(&self, name: &str, entries: Vec<Entry>) -> Result<Vec<Entry>> {
        let mut living = Vec::new();
        for entry in entries {
            if self.ports.store.get(&Message::row(entry.id)).await?.is_some() {
                living.push(entry);
            }
        }
        tracing::debug!(segment = name, living = living.len(), "a segment was looked at");
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
        let put = |key, doc| Op::Put { key, doc, ttl: None, when: When::Always };
        let check = Task::CheckSegment { visits: 1, aliases: leading };
        let check = Chore::new(self.now().after(DAY), target.clone(), check);
        let remove = Task::RemoveSegment { aliases: Vec::new() };
        let remove = Chore::new(self.now().after(GRACE), name.to_owned(), remove);
        let (before, rows) = (vec![put(check.key(), check.doc()?)], Vec::new());
        let bytes = builder.finish();
        let group = Group { segment: target, bytes, before, rows, job: None };
        self.ports.intake.commit(group).await?;
        // In this order: the old segment must not go before readers are led to the new one. Cut off
        // in between, the visit is repeated, and the next copy's alias takes this one's place.
        let moved = [put(alias.key(), alias.doc()?), put(remove.key(), remove.doc()?)];
        Ok(self.ports.store.write(moved.into()).await?)
    }
}

/// Messages that share their bytes stay together.
fn by_place(entries: &[Entry]) -> Vec<((u64, u64), Vec<trapline_model::MessageId>)> {
    let mut places: Vec<((u64, u64), Vec<_>)> = Vec::new();
    for entry in entries {
        let place = (entry.offset, entry.len);
        match places.iter_mut().find(|(other, _)| *other == place) {
            Some((_, ids)) => ids.push(entry.id),
            None => places.push((place, vec![entry.id])),
        }
    }
    places
}

fn size(entries: &[Entry]) -> u64 {
    by_place(entries).iter().map(|((_, len), _)| len).sum()
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
