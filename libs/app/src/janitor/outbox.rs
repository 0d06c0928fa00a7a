//! Repairs what a queue lost: a job whose row is long due is published again.

use std::time::Duration;

use trapline_model::Time;
use trapline_store::{
    Lane, Record, Row, Scan, Value,
    records::{Chore, Outbox, SHARDS},
};

use super::shard::Shard;
use crate::{App, Result, jobs};

/// How long a job may be due before it counts as lost.
const LOST: Duration = Duration::from_mins(5);
const OVERDUE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_secs(30);
const AT_ONCE: usize = 200;
/// The most overdue jobs that are counted.
const COUNTED: usize = 1_000;

impl App {
    /// Publishes the lost jobs of a shard again.
    pub(super) async fn repair_shard(&self, shard: &mut Shard) -> Result<()> {
        let now = self.now();
        if self.ports.queue.durable() || shard.repair_at.is_some_and(|at| now < at) {
            return Ok(());
        }
        shard.repair_at = Some(now.after(PAUSE));
        let walk = jobs::walk(shard.number);
        let first = self.walk_from(&walk).await?;
        let mut oldest = Chore::hour(now.before(LOST));
        for hour in first..=Chore::hour(now) {
            if self.repair_hour(hour, shard.number, now.before(LOST)).await? {
                oldest = oldest.min(hour);
            }
        }
        self.walked_to(&walk, first, oldest).await
    }

    /// Whether jobs of that hour are still to be done.
    async fn repair_hour(&self, hour: i64, shard: i64, until: Time) -> Result<bool> {
        let mut seen: Option<Vec<Value>> = None;
        loop {
            let lost = Outbox::due_in(hour, shard, until, seen.clone(), AT_ONCE);
            let rows = self.ports.store.scan(lost).await?;
            for row in &rows {
                self.repair_job(row).await?;
            }
            if let Some(last) = rows.last() {
                seen = Some(last.sort.clone());
            }
            if rows.len() < AT_ONCE {
                return Ok(seen.is_some());
            }
        }
    }

    /// A job that cannot be published, as one of a newer release's lane, keeps its row and is in no
    /// other job's way; only a queue that is away ends the pass.
    async fn repair_job(&self, row: &Row) -> Result<()> {
        let outcome = match Outbox::of(row) {
            Ok(lost) => self.publish_again(&lost).await,
            Err(error) => Err(error.into()),
        };
        match outcome {
            Err(error) if !error.is_outage() => {
                tracing::warn!(%error, job = ?row.sort.last(), "a lost job stays in the outbox");
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// A lane with a backlog as old is late, not broken: to publish again would double its work.
    async fn publish_again(&self, row: &Outbox) -> Result<()> {
        let stats = self.ports.queue.stats(row.job.lane).await?;
        let late = stats.oldest_overdue.is_some_and(|age| age >= self.now().since(row.due));
        if !late {
            tracing::warn!(job.id = row.job.id, "a job was lost and is published again");
            self.ports.queue.publish(&row.job, None).await?;
        }
        Ok(())
    }

    /// Jobs due for more than a minute that are not finished; at most 8,000 are counted.
    pub(crate) async fn overdue_in_outbox(&self) -> Result<u64> {
        let until = self.now().before(OVERDUE);
        let mut overdue = 0;
        for shard in 0..SHARDS {
            for hour in self.walk_from(&jobs::walk(shard)).await?..=Chore::hour(until) {
                let due = Outbox::due_in(hour, shard, until, None, COUNTED);
                overdue += self.ports.store.scan(Scan { keys_only: true, ..due }).await?.len();
            }
        }
        Ok(overdue as u64)
    }

    /// For how long the oldest job of a lane that is not finished has been due, over a minute.
    pub(crate) async fn oldest_in_outbox(&self, lane: Lane) -> Result<Option<Duration>> {
        let until = self.now().before(OVERDUE);
        let mut oldest: Option<Time> = None;
        for shard in 0..SHARDS {
            for hour in self.walk_from(&jobs::walk(shard)).await?..=Chore::hour(until) {
                let found = self.oldest_of_lane(hour, shard, until, lane).await?;
                oldest = found.into_iter().chain(oldest).min();
                if found.is_some() {
                    break;
                }
            }
        }
        Ok(oldest.map(|due| self.now().since(due)))
    }

    async fn oldest_of_lane(
        &self,
        hour: i64,
        shard: i64,
        until: Time,
        lane: Lane,
    ) -> Result<Option<Time>> {
        let mut after = None;
        loop {
            let due = Outbox::due_in(hour, shard, until, None, COUNTED);
            let rows = self.ports.store.scan(Scan { after, keys_only: true, ..due }).await?;
            if let Some(due) = rows.iter().find_map(|row| Outbox::due_if_of(row, lane)) {
                return Ok(Some(due));
            }
            if rows.len() < COUNTED {
                return Ok(None);
            }
            after = rows.last().map(|row| row.sort.clone());
        }
    }
}
