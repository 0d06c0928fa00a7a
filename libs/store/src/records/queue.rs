//! What queues in tables have in common: a partition is a minute of one shard, and is read once.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::Time;

use crate::{Row, Scan, Storage, Table, Value};

/// How much time a partition of a queue holds.
const BUCKET: Duration = Duration::from_mins(1);

/// How a queue is kept whose rows are gone at the latest when they have been due for `ttl`.
pub(super) const fn kept(ttl: Duration) -> Storage {
    Storage::Queue { bucket: BUCKET, ttl }
}

/// The bucket in which a time lies.
pub(super) fn bucket(at: Time) -> i64 {
    at.millis().div_euclid(60_000)
}

/// Where a reader of a queue is: every row up to here was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// When the last row that was read was due.
    pub due: Time,
    /// Its name; none where every row that was due then was read.
    pub name: Option<String>,
}

impl Position {
    /// Behind every row that is due at `due` or before.
    #[must_use]
    pub fn behind(due: Time) -> Self {
        Self { due, name: None }
    }

    /// Behind a row.
    #[must_use]
    pub fn of(row: &Row) -> Option<Self> {
        let [Value::Int(due), Value::Text(name)] = row.sort.as_slice() else { return None };
        Some(Self { due: Time::from_millis(*due), name: Some(name.clone()) })
    }

    /// Before the first row of a minute.
    #[must_use]
    pub fn before_minute(minute: i64) -> Self {
        Self::behind(Time::from_millis(minute.saturating_mul(60_000).saturating_sub(1)))
    }

    /// This position, or the one before the first row of a minute if that is later.
    #[must_use]
    pub fn not_before_minute(self, minute: i64) -> Self {
        let start = Self::before_minute(minute);
        if self.due < start.due { start } else { self }
    }

    /// Whether rows behind this position may be due at `until` or before.
    #[must_use]
    pub fn is_before(&self, until: Time) -> bool {
        self.next() <= until
    }

    /// The first instant at which a row behind this position may be due.
    fn next(&self) -> Time {
        match self.name {
            Some(_) => self.due,
            None => self.due.after(Duration::from_millis(1)),
        }
    }
}

/// Part of one partition of a queue.
#[derive(Debug)]
pub struct Slice {
    /// Its rows, the longest due first.
    pub scan: Scan,
    /// Where the reader is when there are no more of them.
    pub end: Position,
}

impl Slice {
    /// The rows behind `from` that are due in the next `length`, not later than `until`, and in one
    /// partition. `partition` names the columns before the bucket, and then follows the shard.
    pub(super) fn of(
        table: &'static Table,
        mut partition: Vec<Value>,
        shard: i64,
        from: &Position,
        (until, length, limit): (Time, Duration, usize),
    ) -> Self {
        let next = from.next();
        let bucket = bucket(next);
        let last = Time::from_millis(bucket.saturating_add(1).saturating_mul(60_000) - 1);
        let end = next.after(length).before(Duration::from_millis(1)).min(until).min(last);
        partition.extend([Value::Int(bucket), Value::Int(shard)]);
        let mut after = vec![Value::Int(from.due.millis())];
        after.extend(from.name.clone().map(Value::Text));
        let scan = Scan {
            table,
            partition,
            after: Some(after),
            until: Some(vec![Value::Int(end.millis())]),
            limit,
            keys_only: false,
        };
        Self { scan, end: Position::behind(end) }
    }
}
