//! Jobs: what a request or a mail started and need not wait for.
//!
//! A queue that may lose what it acknowledged has the outbox behind it: a row from before a job is
//! published until it is finished, from which the janitor publishes again.

use std::time::Duration;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use trapline_model::Time;
use trapline_store::{Job, Lane, Lease, Op, PortError, Record, Result, When, records::Outbox};

use crate::App;

/// Rows of jobs that nobody finishes are gone after so long.
const KEPT: Duration = Duration::from_hours(72);

/// A job's body: the work, and what its row in the outbox is found by.
#[derive(Serialize, Deserialize)]
struct Body<W> {
    due: Time,
    work: W,
}

/// Makes a job that is to run at `due`. The id is stable: the same id is the same job.
pub(crate) fn job<W: Serialize>(
    lane: Lane,
    id: String,
    attempt: u32,
    work: W,
    due: Time,
) -> Result<Job> {
    let body = serde_json::to_value(Body { due, work }).map_err(corrupt)?;
    Ok(Job { id, lane, attempt, body })
}

/// What a job is about.
pub(crate) fn work<W: DeserializeOwned>(job: &Job) -> Result<W> {
    Body::deserialize(&job.body).map(|body| body.work).map_err(corrupt)
}

fn due(job: &Job) -> Result<Time> {
    Body::<serde::de::IgnoredAny>::deserialize(&job.body).map(|body| body.due).map_err(corrupt)
}

fn corrupt(source: serde_json::Error) -> PortError {
    PortError::Corrupt { table: "job", source }
}

/// The name of the walk over a shard's outbox.
pub(crate) fn walk(shard: i64) -> String {
    format!("outbox:{shard}")
}

impl App {
    /// Stores a job, to be done once it is due. An unreachable queue only delays it.
    pub(crate) async fn schedule(&self, job: &Job) -> Result<()> {
        let due = due(job)?;
        if self.ports.queue.durable() {
            return self.ports.queue.publish(job, Some(due)).await;
        }
        self.ports.store.write(vec![self.outbox_put(job)?]).await?;
        if let Err(error) = self.ports.queue.publish(job, Some(due)).await {
            tracing::warn!(%error, job.id, "a job waits in the outbox");
        }
        Ok(())
    }

    /// Removes a job that is done.
    pub async fn job_done(&self, lease: Lease) -> Result<()> {
        if !self.ports.queue.durable() {
            self.ports.store.write(vec![outbox_delete(&lease.job)?]).await?;
        }
        self.ports.queue.finish(lease).await
    }

    /// Puts `next` in a job's place, for the time that `next` names.
    pub async fn job_again(&self, lease: Lease, next: &Job) -> Result<()> {
        let due = due(next)?;
        if self.ports.queue.durable() {
            return self.ports.queue.retry(lease, next, due).await;
        }
        let old = outbox_delete(&lease.job)?;
        self.ports.store.write(vec![self.outbox_put(next)?]).await?;
        self.ports.queue.retry(lease, next, due).await?;
        self.ports.store.write(vec![old]).await
    }

    /// The row of a job that is published by somebody else, together with other rows.
    pub(crate) fn outbox_put(&self, job: &Job) -> Result<Op> {
        let row = Outbox { due: due(job)?, job: job.clone() };
        let ttl = Some(row.due.since(self.now()) + KEPT);
        Ok(Op::Put { key: row.key(), doc: row.doc()?, ttl, when: When::Always })
    }
}

fn outbox_delete(job: &Job) -> Result<Op> {
    let row = Outbox { due: due(job)?, job: job.clone() };
    Ok(Op::Delete { key: row.key(), when: When::Always })
}
