//! What the janitor has to do, in queues by what it is.

use std::{collections::BTreeSet, time::Duration};

use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, MockId, TeamId, Time};

use super::{
    int,
    queue::{Position, Slice, bucket, kept},
    shard_of, text,
};
use crate::{Key, Op, PortError, Record, Result, Row, Table, Value, When};

/// The last resort for a row that nobody finds any more, three times the longest wait for a task.
const GIVEN_UP: Duration = Duration::from_hours(90 * 24);

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[MAINTENANCE_TASK];

const MAINTENANCE_TASK: &Table = &Table {
    name: "maintenance_task",
    partition: &[text("queue"), int("minute"), int("shard")],
    sort: &[int("due_ms"), text("subject")],
    storage: kept(GIVEN_UP),
    about: "Queue: what the janitor has to do.",
    ..Table::PLAIN
};

/// Tasks that share a budget. A flood in one queue is in no other's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskQueue {
    /// Inboxes and mocks that end.
    Expiry,
    /// Segments to be checked, compacted, removed; and whatever this release does not know.
    Segments,
}

impl TaskQueue {
    /// Every queue.
    pub const ALL: [Self; 2] = [Self::Expiry, Self::Segments];

    /// A word for keys and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Expiry => "expiry",
            Self::Segments => "segments",
        }
    }

    /// The minutes in which a shard has tasks, of all partitions of the table.
    #[must_use]
    pub fn minutes(self, shard: i64, partitions: &[Vec<Value>]) -> BTreeSet<i64> {
        let minute = |partition: &Vec<Value>| match partition.as_slice() {
            [Value::Text(queue), Value::Int(minute), Value::Int(of)] => {
                (queue == self.name() && *of == shard).then_some(*minute)
            }
            _ => None,
        };
        partitions.iter().filter_map(minute).collect()
    }

    /// The next rows of a shard behind a position, see [`Slice`].
    #[must_use]
    pub fn slice(
        self,
        shard: i64,
        from: &Position,
        until: Time,
        length: Duration,
        limit: usize,
    ) -> Slice {
        let partition = vec![Value::Text(self.name().to_owned())];
        Slice::of(MAINTENANCE_TASK, partition, shard, from, (until, length, limit))
    }
}

/// A kind of task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// Remove a disposable inbox and its messages.
    ExpireInbox {
        /// The inbox's team.
        team: TeamId,
        /// The inbox.
        inbox: InboxId,
        /// Its SMTP user name.
        username: String,
    },
    /// Remove a mock whose time is over, and what it held.
    ExpireMock {
        /// The mock's team.
        team: TeamId,
        /// The mock.
        mock: MockId,
    },
    /// See whether any message of a segment is still there, now and then.
    CheckSegment {
        /// How many times the segment was checked.
        visits: u32,
        /// Aliases that lead to this segment, and go with it.
        aliases: Vec<String>,
    },
    /// See whether any message of a segment is still there, because some were removed. Its next
    /// regular check stays planned.
    ReviewSegment {},
    /// Take what is deleted out of a segment, however little of it that is. Its next regular check
    /// stays planned.
    EraseSegment {},
    /// Remove a segment whose messages are all gone or moved.
    RemoveSegment {
        /// Aliases that go with it.
        aliases: Vec<String>,
    },
}

impl TaskKind {
    /// The queue in which it waits.
    #[must_use]
    pub fn queue(&self) -> TaskQueue {
        match self {
            Self::ExpireInbox { .. } | Self::ExpireMock { .. } => TaskQueue::Expiry,
            Self::CheckSegment { .. }
            | Self::ReviewSegment {}
            | Self::EraseSegment {}
            | Self::RemoveSegment { .. } => TaskQueue::Segments,
        }
    }
}

/// Reviews of one segment are so far apart, in milliseconds.
const REVIEWS: i64 = 12 * 3_600_000;

/// Something to do at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceTask {
    /// When it is due.
    pub due: Time,
    /// What it is about: the id of an inbox or mock, or a segment name. One task of a queue about a subject is due
    /// at a time.
    pub subject: String,
    /// What is to be done.
    pub task: TaskKind,
    /// How often it failed since it was planned.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(attempt: &u32) -> bool {
    *attempt == 0
}

impl MaintenanceTask {
    /// Something to do for the first time. The instants of a segment's reviews and erasures are left to
    /// these.
    #[must_use]
    pub fn new(due: Time, subject: String, task: TaskKind) -> Self {
        let has_own_instant =
            matches!(task, TaskKind::ReviewSegment {} | TaskKind::EraseSegment {});
        let is_taken =
            |due| Self::review_at(&subject, due) == due || Self::erase_at(&subject, due) == due;
        let mut due = due;
        while !has_own_instant && is_taken(due) {
            due = due.after(Duration::from_millis(1));
        }
        Self { due, subject, task, attempt: 0 }
    }

    /// When a segment is reviewed that is to be at `from` or after, within half a day. All that ask for
    /// it until then mean the same row, and segments have instants of their own.
    #[must_use]
    pub fn review_at(segment: &str, from: Time) -> Time {
        let own = i64::from(crc32c::crc32c(segment.as_bytes())) % REVIEWS;
        let from = from.millis();
        Time::from_millis(from.saturating_add((own - from).rem_euclid(REVIEWS)))
    }

    /// The same for what is deleted in a segment to be taken out of it: a millisecond after a review.
    #[must_use]
    pub fn erase_at(segment: &str, from: Time) -> Time {
        let review = Self::review_at(segment, Time::from_millis(from.millis().saturating_sub(1)));
        review.after(Duration::from_millis(1))
    }

    /// When a row's task is due, and what it is about: the key is enough, whatever the document says.
    #[must_use]
    pub fn place(row: &Row) -> Option<(Time, &str)> {
        let [Value::Int(due), Value::Text(subject)] = row.sort.as_slice() else { return None };
        Some((Time::from_millis(*due), subject))
    }

    /// The row of a task that is due then.
    #[must_use]
    pub fn row(queue: TaskQueue, due: Time, subject: &str) -> Key {
        Key {
            table: MAINTENANCE_TASK,
            partition: vec![
                Value::Text(queue.name().to_owned()),
                Value::Int(bucket(due)),
                Value::Int(shard_of(subject)),
            ],
            sort: vec![Value::Int(due.millis()), Value::Text(subject.to_owned())],
        }
    }

    /// Writes a task's document into the row in which it is due then.
    #[must_use]
    pub fn put(queue: TaskQueue, due: Time, subject: &str, doc: String) -> Op {
        Op::Put { key: Self::row(queue, due, subject), doc, ttl: None, when: When::Always }
    }

    /// Plans the task.
    ///
    /// # Errors
    ///
    /// [`PortError::Corrupt`](crate::PortError::Corrupt) for a value that JSON does not have.
    pub fn planned(&self) -> Result<Op> {
        Ok(Self::put(self.task.queue(), self.due, &self.subject, self.doc()?))
    }
}

impl Record for MaintenanceTask {
    const TABLE: &'static Table = MAINTENANCE_TASK;
    fn key(&self) -> Key {
        Self::row(self.task.queue(), self.due, &self.subject)
    }
    /// The key counts: a release that does not know a task puts it off without its document.
    fn of(row: &Row) -> Result<Self> {
        let task: Self = serde_json::from_str(&row.doc)
            .map_err(|source| PortError::Corrupt { table: MAINTENANCE_TASK.name, source })?;
        Ok(match Self::place(row) {
            Some((due, subject)) => Self { due, subject: subject.to_owned(), ..task },
            None => task,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviews_and_erasures_of_a_segment_have_instants_of_their_own() {
        for number in 0..50 {
            let (segment, from) = (format!("keep/{number}"), Time::from_millis(1_800_000_000_000));
            let review = MaintenanceTask::review_at(&segment, from);
            let erase = MaintenanceTask::erase_at(&segment, from);
            assert!(review >= from && erase >= from && erase != review);
            assert!(erase.since(from) <= Duration::from_hours(12));
            // One that is asked for a little later is the same.
            assert_eq!(MaintenanceTask::erase_at(&segment, erase), erase);
            for due in [review, erase] {
                let check = TaskKind::CheckSegment { visits: 0, aliases: Vec::new() };
                let check = MaintenanceTask::new(due, segment.clone(), check);
                assert!(check.due > due && check.due != review && check.due != erase);
                for own in [TaskKind::ReviewSegment {}, TaskKind::EraseSegment {}] {
                    assert_eq!(MaintenanceTask::new(due, segment.clone(), own).due, due);
                }
            }
        }
    }
}
