//! What the janitor has to do, by the hour in which it is due.

use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, TeamId, Time};

use super::{int, shard_of, text};
use crate::{Key, Order, Record, Scan, Table, Value, Writes};

pub(super) const CHORE: &Table = &Table {
    name: "chore",
    partition: &[int("hour"), int("shard")],
    sort: &[int("due_ms"), text("subject")],
    order: Order::Ascending,
    writes: Writes::Plain,
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
}

impl Chore {
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
        Key {
            table: CHORE,
            partition: vec![Value::Int(Self::hour(self.due)), Value::Int(shard_of(&self.subject))],
            sort: vec![Value::Int(self.due.millis()), Value::Text(self.subject.clone())],
        }
    }
}
