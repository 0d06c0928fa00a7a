//! A shard of the janitor's work, and this process's lease of it.

use std::time::Duration;

use trapline_model::Time;
use trapline_store::{
    Op,
    records::{Position, TaskQueue},
};

use super::reader::{JanitorQueue, QueueReader};
use crate::{Result, maintenance::Maintenance};

/// How long a process that was killed keeps its shards.
const LEASE_TIME: Duration = Duration::from_secs(30);

/// One shard as this process sees it.
pub(super) struct Shard {
    pub number: i64,
    /// `None` works without a lease.
    holder: Option<String>,
    held_until: Option<Time>,
    jobs: QueueReader,
    expiry: QueueReader,
    segments: QueueReader,
    /// Where the next round of early checks continues.
    pub early_position: Option<Position>,
}

impl Shard {
    pub(super) fn of(number: i64, holder: &str) -> Self {
        Self { holder: Some(holder.to_owned()), ..Self::unshared(number) }
    }

    pub(super) fn unshared(number: i64) -> Self {
        Self {
            number,
            holder: None,
            held_until: None,
            jobs: QueueReader::new(JanitorQueue::Outbox, number),
            expiry: QueueReader::new(JanitorQueue::Tasks(TaskQueue::Expiry), number),
            segments: QueueReader::new(JanitorQueue::Tasks(TaskQueue::Segments), number),
            early_position: None,
        }
    }

    pub(super) fn reader(&mut self, queue: JanitorQueue) -> &mut QueueReader {
        match queue {
            JanitorQueue::Outbox => &mut self.jobs,
            JanitorQueue::Tasks(TaskQueue::Expiry) => &mut self.expiry,
            JanitorQueue::Tasks(TaskQueue::Segments) => &mut self.segments,
        }
    }

    fn readers(&mut self) -> [&mut QueueReader; 3] {
        [&mut self.jobs, &mut self.expiry, &mut self.segments]
    }

    pub(super) fn is_held(&self, now: Time) -> bool {
        self.holder.is_none() || self.held_until.is_some_and(|until| now < until)
    }

    /// Whether the next piece of work is this process's to do; takes or renews the lease.
    pub(super) async fn holds_lease(&mut self, service: &Maintenance) -> Result<bool> {
        let Some(holder) = self.holder.clone() else { return Ok(true) };
        let now = service.clock.now();
        if self.held_until.is_some_and(|until| until.since(now) > LEASE_TIME / 2) {
            return Ok(true);
        }
        if !self.is_held(now) {
            // Another process may have worked here meanwhile.
            for reader in self.readers() {
                reader.forget();
            }
        }
        let held = service.leases.hold(&self.name(), &holder, LEASE_TIME).await?;
        self.held_until = held.then(|| now.after(LEASE_TIME));
        Ok(held)
    }

    /// Adds the writes of the readers' positions to `ops`: of those that are far from the stored ones, or of
    /// all `at_once`.
    pub(super) fn store_positions(
        &mut self,
        at_once: bool,
        ops: &mut Vec<Op>,
        now: Time,
    ) -> Result<()> {
        self.readers().into_iter().try_for_each(|reader| reader.store(at_once, ops, now))
    }

    /// Lets another process have the shard.
    pub(super) async fn give_up(&mut self, service: &Maintenance) -> Result<()> {
        if !self.is_held(service.clock.now()) {
            return Ok(());
        }
        let mut ops = Vec::new();
        self.store_positions(true, &mut ops, service.clock.now())?;
        service.write_together(ops).await?;
        match (&self.holder, self.held_until.take()) {
            (Some(holder), Some(_)) => service.leases.release(&self.name(), holder).await,
            _ => Ok(()),
        }
    }

    fn name(&self) -> String {
        format!("janitor:{}", self.number)
    }
}
