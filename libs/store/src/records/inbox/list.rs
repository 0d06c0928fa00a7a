//! The list of a team's inboxes. It is a copy: an inbox's own row says what is there.

use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, TeamId};
use uuid::Uuid;

use super::Inbox;
use crate::{
    Key, Record, Row, RowOwner, Scan, Storage, Table, Value,
    records::{int, uuid},
};

/// Into how many partitions a team's list is spread, so that one takes a sixteenth of its changes.
const BUCKETS: u32 = 16;
/// The most entries that are read of one partition: a list has 200,000, and a few more while
/// inboxes are changed.
const MOST: usize = 20_000;

pub(super) const INBOX_ENTRY: &Table = &Table {
    name: "inbox_by_team",
    partition: &[uuid("team_id"), int("bucket")],
    sort: &[uuid("inbox_id"), int("inbox_version")],
    storage: Storage::List,
    owner: RowOwner::Team,
    about: "The list of the inboxes of a team: copies, one for each version.",
    ..Table::PLAIN
};

/// One version of an inbox in its team's list.
///
/// The entry of a version is there without a copy before the inbox's own row is written, and gets
/// one afterwards. So the entry with an inbox's highest version has either what is there or no copy,
/// which means to look at the row. What an inbox was at a version never changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InboxEntry {
    /// The team that the inbox belongs to.
    pub team: TeamId,
    /// The inbox.
    pub inbox: InboxId,
    /// The version of the inbox's row.
    pub version: i64,
    /// Its SMTP user name.
    pub username: String,
    /// The inbox at that version; none while it is being written, or when that was cut off.
    pub copy: Option<Inbox>,
}

impl InboxEntry {
    /// The entry of an inbox that is about to be written.
    #[must_use]
    pub fn coming(inbox: &Inbox, version: i64) -> Self {
        let username = inbox.username.clone();
        Self { team: inbox.team, inbox: inbox.id, version, username, copy: None }
    }

    /// The entry of an inbox that was written.
    #[must_use]
    pub fn written(inbox: &Inbox, version: i64) -> Self {
        Self { copy: Some(inbox.clone()), ..Self::coming(inbox, version) }
    }

    /// The entry's row.
    #[must_use]
    pub fn row(team: TeamId, inbox: InboxId, version: i64) -> Key {
        let sort = vec![Value::Uuid(inbox.0), Value::Int(version)];
        Key { table: INBOX_ENTRY, partition: partition(team, bucket(inbox)), sort }
    }

    /// All entries of one inbox.
    #[must_use]
    pub fn of_inbox(team: TeamId, inbox: InboxId) -> Scan {
        let Key { partition, sort, .. } = Self::row(team, inbox, i64::MIN);
        let until = Some(vec![Value::Uuid(inbox.0)]);
        Scan { partition, after: Some(sort), until, ..scan(MOST) }
    }

    /// The inbox of an entry of which only the key was read.
    #[must_use]
    pub fn inbox_of(row: &Row) -> Option<Uuid> {
        match row.sort[..] {
            [Value::Uuid(inbox), ..] => Some(inbox),
            _ => None,
        }
    }

    /// All entries of a team, in parts that may be read at once. Those of one inbox are in one part,
    /// the highest version last.
    pub fn of_team(team: TeamId) -> impl Iterator<Item = Scan> {
        (0..BUCKETS).map(move |bucket| Scan { partition: partition(team, bucket), ..scan(MOST) })
    }
}

impl Record for InboxEntry {
    const TABLE: &'static Table = INBOX_ENTRY;
    fn key(&self) -> Key {
        Self::row(self.team, self.inbox, self.version)
    }
}

fn scan(limit: usize) -> Scan {
    let table = INBOX_ENTRY;
    Scan::of(table, Vec::new(), limit)
}

fn partition(team: TeamId, bucket: u32) -> Vec<Value> {
    vec![Value::Uuid(team.0), Value::Int(i64::from(bucket))]
}

fn bucket(inbox: InboxId) -> u32 {
    crc32c::crc32c(inbox.0.as_bytes()) % BUCKETS
}
