//! Jobs: what a request or a mail started and need not wait for.
//!
//! A queue that may lose what it acknowledged has the outbox behind it: a row from before a job is
//! published until it is finished, from which the janitor publishes again.

mod body;
mod claimed;
mod consume;
mod housekeeping;
mod put_back;

use std::{borrow::Cow, sync::Arc, time::Duration};

use futures_util::future::join_all;
use trapline_store::{
    Clock, Job, JobDelivery, Lane, LaneStats, Op, Ports, Queue, Record as _, Result, Store, When,
};

use crate::rows::write_all;
pub(crate) use body::{due, job, rescheduled_at, with_row_due_at, with_work, work};
use body::{row_of, with_row_ahead};
pub(crate) use claimed::CLAIM_RETRY_DELAY;
pub use claimed::Claimed;
pub(crate) use housekeeping::{HousekeepingWork, mock_removal, mock_trim, team_removal};
pub use put_back::MissingCapability;

/// The longest that a job may be overdue while its row in the outbox keeps the job's time.
const MAX_LATENESS: Duration = Duration::from_mins(1);

/// The queue of jobs, and the outbox behind it where the queue may lose what it acknowledged.
#[derive(Clone)]
pub struct Jobs {
    store: Arc<dyn Store>,
    queue: Arc<dyn Queue>,
    delivery: JobDelivery,
    clock: Clock,
}

impl Jobs {
    pub(crate) fn new(ports: &Ports, clock: Clock) -> Self {
        let (store, queue) = (ports.store.clone(), ports.queue.clone());
        Self { store, queue, delivery: ports.job_delivery, clock }
    }

    /// Stores a job, to be done once it is due. An unreachable queue only delays it.
    pub(crate) async fn schedule(&self, job: &Job) -> Result<()> {
        let due = due(job)?;
        if !self.has_outbox() {
            return self.queue.publish(job, Some(due)).await;
        }
        let job = with_row_ahead(job, self.clock.now())?;
        self.store.write(vec![outbox_put(&job)?]).await?;
        if let Err(error) = self.queue.publish(&job, Some(due)).await {
            tracing::warn!(%error, job.id, "a job waits in the outbox");
        }
        Ok(())
    }

    /// Stores rows, and the jobs that work on them. Where rows and jobs are in one database, one commit
    /// has both; elsewhere a job comes after its row.
    pub(crate) async fn schedule_with(&self, rows: Vec<Op>, jobs: &[Job]) -> Result<()> {
        if rows.is_empty() && jobs.is_empty() {
            return Ok(());
        }
        if !self.has_outbox() {
            return self.publish_with(rows, jobs).await;
        }
        let mut ops = rows;
        let now = self.clock.now();
        let jobs = jobs.iter().map(|job| with_row_ahead(job, now).map(Cow::into_owned));
        let jobs = jobs.collect::<Result<Vec<_>>>()?;
        for job in &jobs {
            ops.push(outbox_put(job)?);
        }
        write_all(&*self.store, ops).await?;
        if let Err(error) = self.publish_all(&jobs).await {
            tracing::warn!(%error, jobs = jobs.len(), "jobs wait in the outbox");
        }
        Ok(())
    }

    /// Stores rows of one partition, all or none, and the job that works on them. With an outbox the job may be there
    /// though a condition of the rows does not hold, and has nothing to do then.
    pub(crate) async fn schedule_with_batch(&self, rows: Vec<Op>, job: &Job) -> Result<()> {
        if !self.has_outbox() {
            return self.publish_with(rows, std::slice::from_ref(job)).await;
        }
        let due = due(job)?;
        let job = with_row_ahead(job, self.clock.now())?;
        self.store.write(vec![outbox_put(&job)?]).await?;
        self.store.write(rows).await?;
        if let Err(error) = self.queue.publish(&job, Some(due)).await {
            tracing::warn!(%error, job.id, "a job waits in the outbox");
        }
        Ok(())
    }

    /// Whether a row of the outbox stands behind each job.
    pub(crate) fn has_outbox(&self) -> bool {
        self.delivery == JobDelivery::ThroughOutbox
    }

    /// The row of a job that is published by somebody else, together with other rows; none without an
    /// outbox.
    pub(crate) fn outbox_row(&self, job: &Job) -> Result<Option<Op>> {
        self.has_outbox().then(|| outbox_put(job)).transpose()
    }

    async fn publish_with(&self, rows: Vec<Op>, jobs: &[Job]) -> Result<()> {
        let jobs = jobs.iter().map(|job| Ok((job.clone(), due(job)?))).collect::<Result<_>>()?;
        self.queue.publish_with(rows, jobs).await
    }

    async fn publish_all(&self, jobs: &[Job]) -> Result<()> {
        let mut publishing = Vec::with_capacity(jobs.len());
        for job in jobs {
            publishing.push(self.queue.publish(job, Some(due(job)?)));
        }
        join_all(publishing).await.into_iter().collect()
    }
}

/// The statistics of these lanes.
pub(crate) async fn lane_stats(
    queue: &dyn Queue,
    lanes: &[Lane],
) -> Result<Vec<(Lane, LaneStats)>> {
    let mut all = Vec::with_capacity(lanes.len());
    for lane in lanes {
        all.push((*lane, queue.stats(*lane).await?));
    }
    Ok(all)
}

fn outbox_put(job: &Job) -> Result<Op> {
    row_of(job)?.put()
}

fn outbox_delete(job: &Job) -> Result<Op> {
    Ok(Op::Delete { key: row_of(job)?.key(), when: When::Always })
}
