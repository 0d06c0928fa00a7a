//! Reads the messages that a client missed, page by page as it takes them.

use trapline_model::MessageId;
use trapline_store::{Row, Scan, Value, is_v7, records};
use uuid::Uuid;

use super::{
    Bookmark, Feed,
    bookmark::{self, SeenWindow},
};
use crate::{
    Result,
    message_scans::{message_keys, message_rows},
};

/// Keys that a feed keeps of what it has to tell; when these are told, it reads the next.
const MAX_KEYS: usize = 1_000;
/// Rows that are read at a time.
const PAGE_ROWS: usize = 16;
/// Bytes of events that wait for the client, but for the last one.
const MAX_READY_BYTES: usize = 32 * 1024;

/// Messages that the client may not have been told of.
pub(super) struct Replay {
    /// The last one whose key was read.
    from: Uuid,
    /// Those to tell, newest first.
    keys: Vec<Uuid>,
    /// Whether there are keys behind these, or none was read yet.
    more: bool,
}

impl Replay {
    /// Of the messages after `floor`.
    pub(super) fn after(floor: Uuid) -> Self {
        Self { from: floor, keys: Vec::new(), more: true }
    }

    /// Of these messages, newest first.
    pub(super) fn of(keys: Vec<Uuid>) -> Self {
        Self { from: Uuid::nil(), keys, more: false }
    }

    /// The next page's keys: where it begins, and its oldest.
    fn page(&self) -> Option<(usize, Uuid)> {
        let oldest = self.keys.last()?;
        Some((self.keys.len().saturating_sub(PAGE_ROWS), *oldest))
    }
}

impl Feed {
    /// Takes for known what was there at `start`, an id from before the subscription; what is younger is
    /// told. A client that comes back with this position has missed what comes from now on.
    pub(super) async fn start_live(&mut self, start: Uuid) -> Result<()> {
        self.seen = SeenWindow::after(bookmark::window_floor(start));
        let newest = self.newest().await?;
        let mut known = self.newer(self.seen.floor()).await?;
        let younger = known.partition_point(|id| *id > start);
        if younger > 0 {
            self.replay = Some(Replay::of(known.drain(..younger).collect()));
        }
        self.cursor = known.first().copied().unwrap_or_else(|| newest.min(start));
        for id in known {
            self.seen.insert(id);
        }
        Ok(())
    }

    /// Goes on behind a bookmark: with what the client lacks, or, where several processes store
    /// messages and it lacks one of the last minute's, with all of these.
    pub(super) async fn resume(&mut self, bookmark: Bookmark) -> Result<()> {
        self.cursor = bookmark.last.uuid;
        let Some(sum) = bookmark.seen else {
            self.seen = SeenWindow::after(self.cursor);
            self.replay = Some(Replay::after(self.cursor));
            return Ok(());
        };
        self.seen = SeenWindow::after(sum.floor);
        self.replay = Some(Replay::after(sum.floor));
        let mut known = self.newer(sum.floor).await?;
        known.retain(|id| *id <= self.cursor);
        if sum.is_of(known.iter().copied()) {
            for id in known {
                self.seen.insert(id);
            }
        }
        Ok(())
    }

    /// Makes the next events ready, oldest first.
    pub(super) async fn emit_page(&mut self) -> Result<()> {
        let Some(replay) = &self.replay else { return Ok(()) };
        let Some((at, oldest)) = replay.page() else { return self.read_keys().await };
        let newest = replay.keys[at];
        let rows = self.rows(newest, oldest).await?;
        let after = successor(newest);
        let read =
            self.live.read_marks.state(self.inbox.id, after, Some(oldest), 2 * PAGE_ROWS).await?;
        let mut ready = 0;
        let mut last = newest;
        for row in rows.iter().rev() {
            if ready >= MAX_READY_BYTES {
                break;
            }
            last = records::Message::id(row);
            if !self.is_new(last) {
                continue;
            }
            let record = records::Message::of(row)?;
            let id = MessageId { inbox: self.inbox.id, uuid: last };
            let data = self.live.payload(id, read.is_read(last), || record);
            ready += data.len();
            self.seen.insert(last);
            self.cursor = self.cursor.max(last);
            self.emit("message.created", data);
        }
        let is_whole = rows.first().is_none_or(|row| records::Message::id(row) == last);
        if let Some(replay) = &mut self.replay {
            let seen = if is_whole { newest } else { last };
            replay.keys.retain(|key| *key > seen);
        }
        Ok(())
    }

    /// Reads the keys of the next messages, or ends the replay.
    async fn read_keys(&mut self) -> Result<()> {
        let Some(from) = self.replay.as_ref().filter(|replay| replay.more).map(|r| r.from) else {
            self.replay = None;
            return Ok(());
        };
        let mut keys = self.newer(from).await?;
        let more = keys.len() > MAX_KEYS;
        keys.drain(..keys.len().saturating_sub(MAX_KEYS));
        keys.shrink_to_fit();
        let from = keys.first().copied().unwrap_or(from);
        self.replay = Some(Replay { from, keys, more });
        Ok(())
    }

    /// The ids of the stored messages after one, newest first.
    async fn newer(&mut self, floor: Uuid) -> Result<Vec<Uuid>> {
        let until = Some(vec![Value::Uuid(floor)]);
        let scan = Scan { until, ..message_keys(self.inbox.id, self.limit()) };
        let rows = self.live.store.scan(scan).await?;
        let ids = rows.iter().map(records::Message::id);
        Ok(ids.filter(|id| *id > floor).collect())
    }

    async fn newest(&mut self) -> Result<Uuid> {
        let rows = self.live.store.scan(message_keys(self.inbox.id, 1)).await?;
        Ok(rows.first().map(records::Message::id).unwrap_or_default())
    }

    /// The rows from one message to an older one. More than there were keys, if another process
    /// has stored some in between meanwhile.
    async fn rows(&mut self, newest: Uuid, oldest: Uuid) -> Result<Vec<Row>> {
        let until = Some(vec![Value::Uuid(oldest)]);
        let scan = Scan { until, ..message_rows(self.inbox.id, successor(newest), 2 * PAGE_ROWS) };
        Ok(self.live.store.scan(scan).await?)
    }

    fn limit(&self) -> usize {
        usize::try_from(self.inbox.max_messages).unwrap_or(usize::MAX)
    }
}

/// The id right behind one, for a scan that is to begin with it.
fn successor(id: Uuid) -> Option<Uuid> {
    id.as_u128().checked_add(1).map(Uuid::from_u128).filter(|next| is_v7(*next))
}
