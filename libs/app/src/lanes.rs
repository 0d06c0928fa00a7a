//! The queue as a job loop sees it.

use std::time::Duration;

use trapline_model::Time;
use trapline_store::{Job, Lane, Lease, PortError, Result};

use crate::{App, jobs, put_back::Lacking, receive::Arrival};

/// A third of a lease's time: two extensions may fail.
const EXTEND_EVERY: Duration = Duration::from_secs(10);
const MAX_ATTEMPTS: u32 = 10;
const RETRY_AFTER: Duration = Duration::from_secs(30);

impl App {
    /// The same job for another time.
    pub fn job_at(old: &Job, due: Time) -> Result<Job> {
        jobs::job_at(old, due)
    }

    /// Waits up to `wait` for a due job of the lane, then takes up to `max`. Each is held for 30 s.
    pub async fn take_jobs(&self, lane: Lane, max: usize, wait: Duration) -> Result<Vec<Lease>> {
        self.ports.queue.take(lane, max, wait).await
    }

    /// Extends a lease again and again; returns only when somebody else holds the job.
    pub async fn keep_job(&self, lease: &Lease) {
        loop {
            self.clock.sleep(EXTEND_EVERY).await;
            match self.ports.queue.extend(lease).await {
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
    pub async fn job_failed(&self, lease: Lease, why: &str) -> Result<()> {
        let Job { id, lane, attempt, .. } = &lease.job;
        if *attempt >= MAX_ATTEMPTS {
            tracing::error!(error = why, job.id = id, "a job was given up");
            return self.jobs.job_done(lease).await;
        }
        tracing::warn!(error = why, job.id = id, "a job is tried again");
        let due = self.now().after(RETRY_AFTER);
        let work: serde_json::Value = jobs::work(&lease.job)?;
        let next = jobs::job(*lane, id.clone(), attempt + 1, work, due)?;
        self.jobs.job_again(lease, &next).await
    }

    /// Removes a job that is done.
    pub async fn job_done(&self, lease: Lease) -> Result<()> {
        self.jobs.job_done(lease).await
    }

    /// Puts `next` in a job's place, for the time that `next` names.
    pub async fn job_again(&self, lease: Lease, next: &Job) -> Result<()> {
        self.jobs.job_again(lease, next).await
    }

    /// Does what arrived mail sets off. Doing it again changes nothing. Returns the job that takes this
    /// one's place where the rest is left to another process.
    ///
    /// # Errors
    /// [`crate::Error::Unavailable`] while a port does not answer; a job of a later release is not read.
    pub async fn arrived(&self, job: &Job) -> crate::Result<Option<Job>> {
        let arrivals: Vec<Arrival> = jobs::work(job)?;
        let untold: Vec<_> = arrivals.iter().filter(|arrival| !arrival.told).cloned().collect();
        self.tell_webhooks(&untold).await?;
        let mut left = self.forward_arrivals(&arrivals).await?;
        if left.is_empty() {
            return Ok(None);
        }
        for arrival in &mut left {
            arrival.told = true;
        }
        self.put_back(&jobs::with_work(job, left)?, Lacking::Relay)
    }
}
