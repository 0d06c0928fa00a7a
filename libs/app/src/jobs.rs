//! Jobs: what a request or a mail started and need not wait for.
//!
//! A queue that may lose what it acknowledged has the outbox behind it: a row from before a job is
//! published until it is finished, from which the janitor publishes again.

use std::{borrow::Cow, sync::Arc, time::Duration};

use futures_util::future::{join_all, try_join_all};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use trapline_model::Time;
use trapline_store::{
    Clock, Job, Lane, Lease, Op, PortError, Ports, Queue, Record, Result, Store, When,
    by_partition, records::Outbox,
};

/// The documents of one batch, in bytes: CQL servers refuse batches of 50 KiB.
const BATCH_BYTES: usize = 32 << 10;
/// A job that is due for longer gets its row where whoever repairs looks next.
const LATE: Duration = Duration::from_mins(1);

/// The name of what does not decode, where that is a job.
pub(crate) const TABLE: &str = "job";

/// How long a job waits for the one that does the same.
pub(crate) const BEHIND: Duration = Duration::from_secs(15);
/// How long a job may be ahead of its row.
const AHEAD: Duration = Duration::from_mins(1);
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Whether the attempt that a job asks for is to be made.
#[derive(Debug)]
pub enum Begun<A> {
    /// Make it, and tell how it ended.
    Attempt(Box<A>),
    /// Not now; this job takes the other's place.
    Later(Job),
    /// It is over.
    Over,
}

/// A job's body: the work, and what its row in the outbox is found by.
#[derive(Serialize, Deserialize)]
struct Body<W> {
    due: Time,
    /// When its row is due, where that is not when the job is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    row: Option<Time>,
    /// How often it was put back for a process that can do it.
    #[serde(default, skip_serializing_if = "is_zero")]
    put_back: u32,
    work: W,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Makes a job that is to run at `due`. The id is stable: the same id is the same job.
pub(crate) fn job<W: Serialize>(
    lane: Lane,
    id: String,
    attempt: u32,
    work: W,
    due: Time,
) -> Result<Job> {
    let body = serde_json::to_value(Body { due, row: None, put_back: 0, work }).map_err(corrupt)?;
    Ok(Job { id, lane, attempt, body })
}

/// What a job is about.
pub(crate) fn work<W: DeserializeOwned>(job: &Job) -> Result<W> {
    Body::deserialize(&job.body).map(|body| body.work).map_err(corrupt)
}

pub(crate) fn due(job: &Job) -> Result<Time> {
    Body::<serde::de::IgnoredAny>::deserialize(&job.body).map(|body| body.due).map_err(corrupt)
}

/// The same job with its row in another place.
pub(crate) fn placed(job: &Job, row: Time) -> Result<Job> {
    let body = Body::<serde_json::Value>::deserialize(&job.body).map_err(corrupt)?;
    let body = serde_json::to_value(Body { row: Some(row), ..body }).map_err(corrupt)?;
    Ok(Job { body, ..job.clone() })
}

/// The same job with other work.
pub(crate) fn with_work<W: Serialize>(job: &Job, work: W) -> Result<Job> {
    let body = Body::<serde::de::IgnoredAny>::deserialize(&job.body).map_err(corrupt)?;
    let body = Body { due: body.due, row: body.row, put_back: body.put_back, work };
    let body = serde_json::to_value(body).map_err(corrupt)?;
    Ok(Job { body, ..job.clone() })
}

pub(crate) fn times_put_back(job: &Job) -> Result<u32> {
    let body = Body::<serde::de::IgnoredAny>::deserialize(&job.body).map_err(corrupt)?;
    Ok(body.put_back)
}

/// The same job for another time, put back once more.
pub(crate) fn put_back(job: &Job, due: Time) -> Result<Job> {
    let body = Body::<serde_json::Value>::deserialize(&job.body).map_err(corrupt)?;
    let body = Body { due, row: None, put_back: body.put_back.saturating_add(1), ..body };
    let body = serde_json::to_value(body).map_err(corrupt)?;
    Ok(Job { body, ..job.clone() })
}

/// The job, with its row where nobody has passed yet.
fn on_time(job: &Job, now: Time) -> Result<Cow<'_, Job>> {
    let late = now.since(due(job)?) > LATE;
    Ok(if late { Cow::Owned(placed(job, now)?) } else { Cow::Borrowed(job) })
}

/// The same job for another time.
pub(crate) fn job_at(old: &Job, due: Time) -> Result<Job> {
    let next: serde_json::Value = work(old)?;
    job(old.lane, old.id.clone(), old.attempt, next, due)
}

fn row_of(job: &Job) -> Result<Outbox> {
    let body = Body::<serde::de::IgnoredAny>::deserialize(&job.body).map_err(corrupt)?;
    Ok(Outbox { due: body.row.unwrap_or(body.due), job: job.clone() })
}

fn corrupt(source: serde_json::Error) -> PortError {
    PortError::Corrupt { table: TABLE, source }
}

/// The queue of jobs, and the outbox behind it where the queue may lose what it acknowledged.
#[derive(Clone)]
pub(crate) struct Jobs {
    store: Arc<dyn Store>,
    queue: Arc<dyn Queue>,
    clock: Clock,
}

impl Jobs {
    pub(crate) fn new(ports: &Ports, clock: Clock) -> Self {
        Self { store: ports.store.clone(), queue: ports.queue.clone(), clock }
    }

    /// Stores a job, to be done once it is due. An unreachable queue only delays it.
    pub(crate) async fn schedule(&self, job: &Job) -> Result<()> {
        let due = due(job)?;
        if self.queue.durable() {
            return self.queue.publish(job, Some(due)).await;
        }
        let job = on_time(job, self.clock.now())?;
        self.store.write(vec![outbox_put(&job)?]).await?;
        if let Err(error) = self.queue.publish(&job, Some(due)).await {
            tracing::warn!(%error, job.id, "a job waits in the outbox");
        }
        Ok(())
    }

    /// When to look again for the row of a job that has none; never, once the row is late. Where the
    /// queue is quicker than the store, a job may be there before its row is.
    pub(crate) fn ahead_of_its_row(&self, job: &Job) -> Result<Option<Time>> {
        let now = self.clock.now();
        Ok((now.since(due(job)?) < AHEAD).then(|| now.after(LOOK_AGAIN)))
    }

    /// What becomes of a job whose row is not there.
    pub(crate) fn without_row<A>(&self, job: &Job) -> Result<Begun<A>> {
        Ok(match self.ahead_of_its_row(job)? {
            Some(due) => Begun::Later(job_at(job, due)?),
            None => Begun::Over,
        })
    }

    /// Stores rows, and the jobs that work on them. Where rows and jobs are in one database, both are
    /// in its next commit, the rows first; elsewhere a job comes after its row.
    pub(crate) async fn schedule_with(&self, rows: Vec<Op>, jobs: &[Job]) -> Result<()> {
        if self.queue.durable() {
            return tokio::try_join!(write_all(&*self.store, rows), self.publish_all(jobs))
                .map(drop);
        }
        let mut ops = rows;
        let now = self.clock.now();
        let jobs = jobs.iter().map(|job| on_time(job, now).map(Cow::into_owned));
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

    async fn publish_all(&self, jobs: &[Job]) -> Result<()> {
        let mut publishing = Vec::with_capacity(jobs.len());
        for job in jobs {
            publishing.push(self.queue.publish(job, Some(due(job)?)));
        }
        join_all(publishing).await.into_iter().collect()
    }

    /// Removes a job that is done.
    pub(crate) async fn job_done(&self, lease: Lease) -> Result<()> {
        if !self.queue.durable() {
            self.store.write(vec![outbox_delete(&lease.job)?]).await?;
        }
        self.queue.finish(lease).await
    }

    /// Puts `next` in a job's place, for the time that `next` names.
    pub(crate) async fn job_again(&self, lease: Lease, next: &Job) -> Result<()> {
        let due = due(next)?;
        if self.queue.durable() {
            return self.queue.retry(lease, next, due).await;
        }
        let (old, now) = (outbox_delete(&lease.job)?, self.clock.now());
        let next = on_time(next, now)?;
        let new = outbox_put(&next)?;
        let same = new.key() == old.key();
        self.store.write(vec![new]).await?;
        self.queue.retry(lease, &next, due).await?;
        if same { Ok(()) } else { self.store.write(vec![old]).await }
    }
}

/// Writes rows that need not be there together: those of one partition in one write, as far as every
/// store takes them.
pub(crate) async fn write_all(store: &dyn Store, ops: Vec<Op>) -> Result<()> {
    let batches = by_partition(ops)?.into_iter().flat_map(in_batches);
    try_join_all(batches.map(|batch| store.write(batch))).await.map(drop)
}

/// The row of a job that is published by somebody else, together with other rows.
pub(crate) fn outbox_put(job: &Job) -> Result<Op> {
    row_of(job)?.put()
}

/// Cuts the writes of one partition into batches of bounded size, each with one at least.
fn in_batches(ops: Vec<Op>) -> Vec<Vec<Op>> {
    let mut batches: Vec<Vec<Op>> = Vec::new();
    let mut room = 0;
    for op in ops {
        let size = size_of::<Op>() + if let Op::Put { doc, .. } = &op { doc.len() } else { 0 };
        if let Some(batch) = batches.last_mut().filter(|_| size <= room) {
            batch.push(op);
        } else {
            room = BATCH_BYTES;
            batches.push(vec![op]);
        }
        room = room.saturating_sub(size);
    }
    batches
}

fn outbox_delete(job: &Job) -> Result<Op> {
    Ok(Op::Delete { key: row_of(job)?.key(), when: When::Always })
}
