//! What the janitor has to do, by the hour in which it is due.

use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, TeamId, Time};

use super::{int, shard_of, text};
use crate::{Key, Order, PortError, Record, Result, Row, Scan, Storage, Table, Value, Writes};

pub(super) const CHORE: &Table = &Table {
    name: "chore",
    partition: &[int("hour"), int("shard")],
    sort: &[int("due_ms"), text("subject")],
    order: Order::Ascending,
    writes: Writes::Plain,
    storage: Storage::Rows,
};

/// A kind of chore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Remove a disposable inbox and its messages.
    ExpireInbox {
        /// The inbox's team.
        team: TeamId,
        /// The inbox.
        inbox: InboxId,
        /// Its SMTP user name.
        username: String,
    },
    /// See whether any message of a segment is still there.
    CheckSegment {
        /// How often it was looked at.
        visits: u32,
        /// Aliases that lead to this segment, and go with it.
        aliases: Vec<String>,
    },
    /// Remove a segment whose messages are all gone or moved.
    RemoveSegment {
        /// Aliases that go with it.
        aliases: Vec<String>,
    },
}

/// Something to do at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chore {
    /// When it is due.
    pub due: Time,
    /// What it is about: an inbox id or a segment name.
    pub subject: String,
    /// What is to be done.
    pub task: Task,
    /// How often it failed since it was planned.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(attempt: &u32) -> bool {
    *attempt == 0
}

impl Chore {
    /// Something to do for the first time.
    #[must_use]
    pub fn new(due: Time, subject: String, task: Task) -> Self {
        Self { due, subject, task, attempt: 0 }
    }

    /// When a row's chore is due, and what it is about: the key is enough, whatever the document says.
    #[must_use]
    pub fn place(row: &Row) -> Option<(Time, &str)> {
        let [Value::Int(due), Value::Text(subject)] = row.sort.as_slice() else { return None };
        Some((Time::from_millis(*due), subject))
    }

    /// The row of a chore that is due then.
    #[must_use]
    pub fn row(due: Time, subject: &str) -> Key {
        Key {
            table: CHORE,
            partition: vec![Value::Int(Self::hour(due)), Value::Int(shard_of(subject))],
            sort: vec![Value::Int(due.millis()), Value::Text(subject.to_owned())],
        }
    }

    /// The hour since 1970 in which a time lies.
    #[must_use]
    pub fn hour(at: Time) -> i64 {
        at.millis().div_euclid(3_600_000)
    }

    /// The due chores of one partition, oldest first.
    #[must_use]
    pub fn due_in(hour: i64, shard: i64, now: Time, limit: usize) -> Scan {
        Scan {
            table: CHORE,
            partition: vec![Value::Int(hour), Value::Int(shard)],
            after: None,
            until: Some(vec![Value::Int(now.millis())]),
            limit,
            keys_only: false,
        }
    }
}

impl Record for Chore {
    const TABLE: &'static Table = CHORE;
    fn key(&self) -> Key {
        Self::row(self.due, &self.subject)
    }

    /// The key counts: a release that does not know a chore puts it off without its document.
    fn of(row: &Row) -> Result<Self> {
        let chore: Self = serde_json::from_str(&row.doc)
            .map_err(|source| PortError::Corrupt { table: CHORE.name, source })?;
        Ok(match Self::place(row) {
            Some((due, subject)) => Self { due, subject: subject.to_owned(), ..chore },
            None => chore,
        })
    }
}
