//! A share of the janitor's work, and whether it is this process's.

use std::time::Duration;

use trapline_model::Time;
use trapline_store::{
    Op,
    records::{Position, TaskQueue},
};

use super::reader::{Queue, Reader};
use crate::{Result, maintenance::Maintenance};

/// How long a process that was killed keeps its shards.
const LEASE_TIME: Duration = Duration::from_secs(30);

/// One shard as this process sees it.
pub(super) struct Shard {
    pub number: i64,
    /// `None` works without a lease.
    holder: Option<String>,
    held_until: Option<Time>,
    jobs: Reader,
    expiry: Reader,
    segments: Reader,
    /// Where the search for room goes on.
    pub looked_at: Option<Position>,
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
            jobs: Reader::new(Queue::Outbox, number),
            expiry: Reader::new(Queue::Tasks(TaskQueue::Expiry), number),
            segments: Reader::new(Queue::Tasks(TaskQueue::Segments), number),
            looked_at: None,
        }
    }

    pub(super) fn reader(&mut self, queue: Queue) -> &mut Reader {
        match queue {
            Queue::Outbox => &mut self.jobs,
            Queue::Tasks(TaskQueue::Expiry) => &mut self.expiry,
            Queue::Tasks(TaskQueue::Segments) => &mut self.segments,
        }
    }

    fn readers(&mut self) -> [&mut Reader; 3] {
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

    /// Stores the places of the readers that went on for long, or all of them `at_once`.
    pub(super) fn store_places(
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
        self.store_places(true, &mut ops, service.clock.now())?;
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
