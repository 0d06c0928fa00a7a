//! What a job loop does with the queue: takes jobs, extends their leases, and stores how they ended.

use std::time::Duration;

use trapline_model::Time;
use trapline_store::{Job, Lane, Lease, PortError, Result};

use super::{Jobs, due, job, outbox_delete, outbox_put, rescheduled_at, with_row_ahead, work};

/// A third of a lease's time: two extensions may fail.
const EXTEND_INTERVAL: Duration = Duration::from_secs(10);
/// Tries of a job that fails, the first one counted.
const MAX_ATTEMPTS: u32 = 10;
/// When a job that failed is tried again.
const FAILURE_DELAY: Duration = Duration::from_secs(30);

impl Jobs {
    /// The time by the clock in use.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The same job, due after `delay`.
    ///
    /// # Errors
    ///
    /// [`PortError::Corrupt`] if the job's body is not that of a job.
    pub fn delayed(&self, old: &Job, delay: Duration) -> Result<Job> {
        rescheduled_at(old, self.now().after(delay))
    }

    /// Waits up to `wait` for a due job of the lane, then takes up to `max`. Each is held for 30 s.
    ///
    /// # Errors
    ///
    /// When the queue does not answer.
    pub async fn take(&self, lane: Lane, max: usize, wait: Duration) -> Result<Vec<Lease>> {
        self.queue.take(lane, max, wait).await
    }

    /// Extends a lease every 10 s; returns only when somebody else holds the job.
    pub async fn keep(&self, lease: &Lease) {
        loop {
            self.clock.sleep(EXTEND_INTERVAL).await;
            match self.queue.extend(lease).await {
                Ok(()) => {}
                Err(PortError::Conflict) => {
                    tracing::warn!(job.id = lease.job.id, "a job is somebody else's by now");
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, job.id = lease.job.id, "a lease was not extended");
                }
            }
        }
    }

    /// Puts off a job that could not be done: the same work again in 30 s, ten tries in all.
    ///
    /// # Errors
    ///
    /// When the store or the queue does not answer; the job then comes again once its lease is over.
    pub async fn fail(&self, lease: Lease, why: &str) -> Result<()> {
        let Job { id, lane, attempt, .. } = &lease.job;
        if *attempt >= MAX_ATTEMPTS {
            tracing::error!(error = why, job.id = id, "a job was given up");
            return self.complete(lease).await;
        }
        tracing::warn!(error = why, job.id = id, "a job is tried again");
        let due = self.now().after(FAILURE_DELAY);
        let work: serde_json::Value = work(&lease.job)?;
        let next = job(*lane, id.clone(), attempt + 1, work, due)?;
        self.reschedule(lease, &next).await
    }

    /// Removes a job that is done.
    ///
    /// # Errors
    ///
    /// When the store or the queue does not answer; the job then comes again once its lease is over.
    pub async fn complete(&self, lease: Lease) -> Result<()> {
        if self.has_outbox() {
            self.store.write(vec![outbox_delete(&lease.job)?]).await?;
        }
        self.queue.finish(lease).await
    }

    /// Puts `next` in a job's place, for the time that `next` names.
    ///
    /// # Errors
    ///
    /// When the store or the queue does not answer; the job then comes again once its lease is over.
    pub async fn reschedule(&self, lease: Lease, next: &Job) -> Result<()> {
        let due = due(next)?;
        if !self.has_outbox() {
            return self.queue.retry(lease, next, due).await;
        }
        let (old, now) = (outbox_delete(&lease.job)?, self.now());
        let next = with_row_ahead(next, now)?;
        let new = outbox_put(&next)?;
        let same = new.key() == old.key();
        self.store.write(vec![new]).await?;
        self.queue.retry(lease, &next, due).await?;
        if same { Ok(()) } else { self.store.write(vec![old]).await }
    }
}
