//! The janitor: publishes jobs that were lost, and does what is due, minute by minute. It scans
//! nothing that is not due.
//!
//! The work is cut into shards. A process works on the shards that it holds a lease of, and takes no
//! more of them than its share among the processes that live. Repair, expiry and segments have a
//! budget of their own in each round, so that a flood of one starves no other.

mod outbox;
mod reader;
mod room;
mod segments;
mod shard;
mod tasks;

use std::time::Duration;

use tokio::time::Instant;
use trapline_model::Time;
use trapline_store::records::{SHARDS, TaskQueue};

use super::Maintenance;
use crate::{Error, Result};
use reader::JanitorQueue;
use shard::Shard;

/// Time between two rounds over the shards.
const ROUND_INTERVAL: Duration = Duration::from_secs(5);
/// The same when a budget ran out in the last one.
const FULL_ROUND_INTERVAL: Duration = Duration::from_millis(200);
/// How long a round spends on each queue; the shards share it.
const QUEUE_BUDGET: Duration = Duration::from_secs(2);
/// More time than a round takes that does everything that is due.
const UNLIMITED_BUDGET: Duration = Duration::from_hours(24);
/// Between two rounds over the segments, so that what is kept costs an idle server few commits.
const SEGMENT_INTERVAL: Duration = Duration::from_mins(2);
/// Time between two searches for lost jobs.
const REPAIR_INTERVAL: Duration = Duration::from_secs(10);
/// When a job or a task of a later release is read again.
const UNKNOWN_WORK_DELAY: Duration = Duration::from_hours(1);

/// The state of this process's janitor.
struct Janitor {
    shards: Vec<Shard>,
    /// When segments and lost jobs are checked next.
    segments_at: Option<Time>,
    repair_at: Option<Time>,
}

impl Janitor {
    fn with_shards(shards: impl Iterator<Item = Shard>) -> Self {
        Self { shards: shards.collect(), segments_at: None, repair_at: None }
    }
}

impl Maintenance {
    /// Does what is due until shutdown. `holder` tells this process from the others; a process that
    /// starts again under its old name goes on at once.
    pub async fn run_janitor(&self, holder: &str) {
        let shard = |number| {
            if self.is_alone { Shard::unshared(number) } else { Shard::of(number, holder) }
        };
        let mut janitor = Janitor::with_shards((0..SHARDS).map(shard));
        let rounds = async {
            loop {
                let more = self.janitor_round(&mut janitor).await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "the janitor goes on in its next round");
                    false
                });
                self.clock.sleep(if more { FULL_ROUND_INTERVAL } else { ROUND_INTERVAL }).await;
            }
        };
        self.shutdown.run_until_cancelled(rounds).await;
        for shard in &mut janitor.shards {
            if let Err(error) = shard.give_up(self).await {
                tracing::debug!(%error, "a lease runs out by itself");
            }
        }
    }

    /// Does one round. Returns whether a budget ran out, so that more is to be done at once.
    async fn janitor_round(&self, janitor: &mut Janitor) -> Result<bool> {
        self.take_shards(&mut janitor.shards).await?;
        let now = self.clock.now();
        let is_time = |at: Option<Time>| at.is_none_or(|at| at <= now);
        let mut more = false;
        // First what somebody waits for.
        if self.jobs.has_outbox() && is_time(janitor.repair_at) {
            let left =
                self.round_over(&mut janitor.shards, JanitorQueue::Outbox, QUEUE_BUDGET).await.1;
            janitor.repair_at = (!left).then(|| now.after(REPAIR_INTERVAL));
            more |= left;
        }
        let expiry = JanitorQueue::Tasks(TaskQueue::Expiry);
        more |= self.round_over(&mut janitor.shards, expiry, QUEUE_BUDGET).await.1;
        if is_time(janitor.segments_at) {
            let segments = JanitorQueue::Tasks(TaskQueue::Segments);
            let left = self.round_over(&mut janitor.shards, segments, QUEUE_BUDGET).await.1;
            janitor.segments_at = (!left).then(|| now.after(SEGMENT_INTERVAL));
            more |= left;
        }
        self.store_positions(&mut janitor.shards, false).await?;
        if self.room.is_full() {
            self.find_room(&mut janitor.shards).await?;
        }
        Ok(more)
    }

    /// Takes this process's share of the shards, and gives up what is more.
    async fn take_shards(&self, shards: &mut [Shard]) -> Result<()> {
        let workers = self.heartbeats.count_living("worker").await?.max(1);
        let (fair, now) = (shards.len().div_ceil(workers), self.clock.now());
        let mut held = shards.iter().filter(|shard| shard.is_held(now)).count();
        for shard in shards {
            let is_held = shard.is_held(now);
            let taken = if is_held && held > fair {
                shard.give_up(self).await.map(|()| false)
            } else if is_held || held < fair {
                shard.holds_lease(self).await
            } else {
                Ok(false)
            };
            let taken = taken.unwrap_or_else(|error| {
                tracing::warn!(%error, shard = shard.number, "a lease was not renewed");
                is_held
            });
            held = held + usize::from(taken) - usize::from(is_held);
        }
        Ok(())
    }

    /// One round over a queue, in which each shard has its share of the budget. Returns how many rows were
    /// done, and whether the budget ran out.
    async fn round_over(
        &self,
        shards: &mut [Shard],
        queue: JanitorQueue,
        budget: Duration,
    ) -> (usize, bool) {
        let (mut done, mut left, mut changes, now) = (0, false, Vec::new(), self.clock.now());
        let held = shards.iter().filter(|shard| shard.is_held(now)).count().max(1);
        let part_of_budget = budget / u32::try_from(held).unwrap_or(1);
        for shard in shards.iter_mut().filter(|shard| shard.is_held(now)) {
            let until = Instant::now() + part_of_budget;
            let outcome = match queue {
                JanitorQueue::Outbox => self.repair_shard(shard, until).await,
                JanitorQueue::Tasks(queue) => {
                    self.run_tasks(shard, queue, until, &mut changes).await
                }
            };
            match outcome {
                Ok(part) => (done, left) = (done + part.0, left | part.1),
                Err(error) => {
                    let shard = shard.number;
                    tracing::warn!(%error, shard, queue = queue.name(), "a round was cut short");
                }
            }
        }
        if let Err(error) = self.write_changes(&mut changes).await {
            tracing::warn!(%error, queue = queue.name(), "a round is done again");
            for shard in shards {
                shard.reader(queue).forget();
            }
        }
        (done, left)
    }

    async fn find_room(&self, shards: &mut [Shard]) -> Result<()> {
        self.make_room(shards).await?;
        self.room.check().await.or_else(|error| match error {
            Error::StorageFull => Ok(()),
            error => Err(error),
        })
    }

    /// One round over every lost job and every task that is due now, whoever else does the same.
    /// Returns how many tasks were done.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn run_due(&self) -> Result<usize> {
        let mut done = 0;
        let mut shards: Vec<_> = (0..SHARDS).map(Shard::unshared).collect();
        if self.jobs.has_outbox() {
            self.round_over(&mut shards, JanitorQueue::Outbox, UNLIMITED_BUDGET).await;
        }
        for queue in TaskQueue::ALL {
            done +=
                self.round_over(&mut shards, JanitorQueue::Tasks(queue), UNLIMITED_BUDGET).await.0;
        }
        self.store_positions(&mut shards, true).await?;
        Ok(done)
    }

    async fn store_positions(&self, shards: &mut [Shard], at_once: bool) -> Result<()> {
        let (mut ops, now) = (Vec::new(), self.clock.now());
        for shard in shards.iter_mut().filter(|shard| shard.is_held(now)) {
            shard.store_positions(at_once, &mut ops, now)?;
        }
        self.write_together(ops).await
    }
}
