//! Jobs that are not finished: the truth behind a queue that may lose what it acknowledged.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::Time;

use super::{
    int,
    queue::{Position, Slice, bucket, kept},
    shard_of, text,
};
use crate::{Job, Key, Op, Record, Result, Row, Table, Value, When};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[OUTBOX];

const OUTBOX: &Table = &Table {
    name: "outbox_by_minute",
    partition: &[int("minute"), int("shard")],
    sort: &[int("due_ms"), text("job")],
    storage: kept(Outbox::GIVEN_UP),
    about: "Queue: jobs that are not done.",
    ..Table::PLAIN
};

/// A job from before it is published until it is finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outbox {
    /// When the row is to be looked at; when the job is to run, at first.
    pub due: Time,
    /// The job.
    pub job: Job,
}

impl Outbox {
    /// A job that is this long overdue is given up: the last resort for what nobody finishes.
    pub const GIVEN_UP: Duration = Duration::from_hours(14 * 24);

    /// The next rows of a shard behind a position, see [`Slice`].
    #[must_use]
    pub fn slice(
        shard: i64,
        from: &Position,
        until: Time,
        length: Duration,
        limit: usize,
    ) -> Slice {
        Slice::of(OUTBOX, Vec::new(), shard, from, (until, length, limit))
    }

    /// The write of the row.
    ///
    /// # Errors
    ///
    /// [`PortError::Corrupt`](crate::PortError::Corrupt) for a value that JSON does not have.
    pub fn put(&self) -> Result<Op> {
        Ok(Self::put_doc(self.key(), self.doc()?))
    }

    /// A row with a document that this release cannot read.
    #[must_use]
    pub fn put_doc(key: Key, doc: String) -> Op {
        Op::Put { key, doc, ttl: None, when: When::Always }
    }

    /// The row of a job by its name, `<lane>:<id>`.
    #[must_use]
    pub fn row(due: Time, job: &str) -> Key {
        Key {
            table: OUTBOX,
            partition: vec![Value::Int(bucket(due)), Value::Int(shard_of(job))],
            sort: vec![Value::Int(due.millis()), Value::Text(job.to_owned())],
        }
    }

    /// When a row is due, and its job's name: the key is enough, whatever the document says.
    #[must_use]
    pub fn place(row: &Row) -> Option<(Time, &str)> {
        let [Value::Int(due), Value::Text(job)] = row.sort.as_slice() else { return None };
        Some((Time::from_millis(*due), job))
    }
}

impl Record for Outbox {
    const TABLE: &'static Table = OUTBOX;
    fn key(&self) -> Key {
        Self::row(self.due, &format!("{}:{}", self.job.lane.name(), self.job.id))
    }
}
