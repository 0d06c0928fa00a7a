//! Jobs that are not finished: the truth behind a queue that may lose what it acknowledged.

use serde::{Deserialize, Serialize};
use trapline_model::Time;

use super::{Chore, int, shard_of, text};
use crate::{Job, Key, Lane, Order, Record, Row, Scan, Storage, Table, Value, Writes};

pub(super) const OUTBOX: &Table = &Table {
    name: "outbox",
    partition: &[int("hour"), int("shard")],
    sort: &[int("due_ms"), text("job")],
    order: Order::Ascending,
    writes: Writes::Plain,
    storage: Storage::Rows,
};

/// A job from before it is published until it is finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outbox {
    /// When the job is to run.
    pub due: Time,
    /// The job.
    pub job: Job,
}

impl Outbox {
    /// The jobs of one partition that are due at `until` or were before, oldest first, behind a row
    /// that was seen already.
    #[must_use]
    pub fn due_in(
        hour: i64,
        shard: i64,
        until: Time,
        after: Option<Vec<Value>>,
        limit: usize,
    ) -> Scan {
        Scan {
            table: OUTBOX,
            partition: vec![Value::Int(hour), Value::Int(shard)],
            after,
            until: Some(vec![Value::Int(until.millis())]),
            limit,
            keys_only: false,
        }
    }

    /// When the job of a row, of which the key is enough, is to run, if it is of this lane.
    #[must_use]
    pub fn due_if_of(row: &Row, lane: Lane) -> Option<Time> {
        let [Value::Int(due), Value::Text(job)] = row.sort.as_slice() else { return None };
        let (name, _) = job.split_once(':')?;
        (name == lane.name()).then(|| Time::from_millis(*due))
    }
}

impl Record for Outbox {
    const TABLE: &'static Table = OUTBOX;
    fn key(&self) -> Key {
        let job = format!("{}:{}", self.job.lane.name(), self.job.id);
        Key {
            table: OUTBOX,
            partition: vec![Value::Int(Chore::hour(self.due)), Value::Int(shard_of(&job))],
            sort: vec![Value::Int(self.due.millis()), Value::Text(job)],
        }
    }
}
