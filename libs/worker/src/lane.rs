//! The job loop: takes what is due in a lane, and works on a bounded number of jobs at once.

use std::{panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use tokio::{task::JoinSet, time::timeout};
use trapline_app::{App, Job, Jobs, Lease, MissingCapability, metrics};
use trapline_model::Time;

use crate::handler::{JobFailure, JobHandler, JobOutcome, Retry};

/// How often a loop shows that it lives, and the longest that it waits for anything.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);
/// Between a queue that did not answer and the next try.
const QUEUE_RETRY_DELAY: Duration = Duration::from_secs(1);
/// How long jobs may go on after the shutdown began. What is not done by then runs again elsewhere.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(25);

/// Works on the handler's lane until shutdown, then waits up to 25 s for what still runs.
pub async fn run_lane(app: Arc<App>, handler: Arc<dyn JobHandler>, instance: String) {
    let shutdown = app.shutdown().clone();
    let mut lane = LaneLoop { app, handler, instance, running: JoinSet::new(), heartbeat_at: None };
    shutdown.run_until_cancelled(lane.run()).await;
    lane.drain().await;
}

struct LaneLoop {
    app: Arc<App>,
    handler: Arc<dyn JobHandler>,
    instance: String,
    running: JoinSet<()>,
    heartbeat_at: Option<Time>,
}

impl LaneLoop {
    async fn run(&mut self) {
        loop {
            self.send_heartbeat().await;
            while self.running.try_join_next().is_some() {}
            let free = self.handler.concurrency().max(1).saturating_sub(self.running.len());
            if free > 0 {
                self.take(free).await;
            } else if timeout(HEARTBEAT_INTERVAL, self.running.join_next()).await.is_err() {
                tracing::debug!(lane = self.handler.lane().name(), "every slot stays taken");
            }
        }
    }

    async fn send_heartbeat(&mut self) {
        let now = self.app.now();
        if self
            .heartbeat_at
            .is_none_or(|heartbeat_at| now.since(heartbeat_at) >= HEARTBEAT_INTERVAL)
        {
            let lane = self.handler.lane();
            self.app.maintenance().note_job_loop(lane, &self.instance).await;
            self.heartbeat_at = Some(now);
        }
    }

    async fn take(&mut self, free: usize) {
        match self.app.jobs().take(self.handler.lane(), free, HEARTBEAT_INTERVAL).await {
            Ok(leases) => {
                for lease in leases {
                    let (app, handler) = (self.app.clone(), self.handler.clone());
                    self.running.spawn(work(app, handler, lease));
                }
            }
            Err(error) => {
                tracing::error!(%error, "the job queue does not answer");
                tokio::time::sleep(QUEUE_RETRY_DELAY).await;
            }
        }
    }

    async fn drain(mut self) {
        let ended = async { while self.running.join_next().await.is_some() {} };
        if timeout(DRAIN_TIMEOUT, ended).await.is_err() {
            let jobs = self.running.len();
            tracing::warn!(jobs, "jobs were broken off; they will run again");
            self.running.shutdown().await;
        }
    }
}

async fn work(app: Arc<App>, handler: Arc<dyn JobHandler>, lease: Lease) {
    let jobs = app.jobs();
    let outcome = run_with_lease(jobs, handler.as_ref(), &lease).await;
    metrics::job_done(lease.job.lane, outcome.is_ok());
    let stored = match outcome {
        Ok(JobOutcome::Complete) => jobs.complete(lease).await,
        Ok(JobOutcome::Reschedule(next)) => jobs.reschedule(lease, &next).await,
        Err(failure) => jobs.fail(lease, &failure).await,
    };
    if let Err(error) = stored {
        tracing::warn!(%error, "a job's end was not stored; it will run again");
    }
}

/// Runs a job while its lease is extended. A lease that was lost all the same stops nothing: half a job
/// is worse than one done twice.
async fn run_with_lease(
    jobs: &Jobs,
    handler: &dyn JobHandler,
    lease: &Lease,
) -> Result<JobOutcome, String> {
    let mut run = pin!(run_once(jobs, handler, &lease.job));
    tokio::select! {
        outcome = &mut run => outcome,
        () = jobs.keep(lease) => run.await,
    }
}

/// Does a job once.
///
/// # Errors
///
/// The failure in words, if it counts as one of the ten tries that a job has.
pub async fn run_once(
    jobs: &Jobs,
    handler: &dyn JobHandler,
    job: &Job,
) -> Result<JobOutcome, String> {
    let failure = match AssertUnwindSafe(handler.run(job)).catch_unwind().await {
        Ok(Ok(outcome)) => return Ok(outcome),
        // Another process may be of a later release.
        Ok(Err(error)) if error.is_unknown_work() => {
            let next = jobs.put_back(job, MissingCapability::KindOfWork);
            return next.map(JobOutcome::from).map_err(|_| error.to_string());
        }
        Ok(Err(error)) => JobFailure::Error(error),
        Err(_) => JobFailure::Panic,
    };
    let Retry::Uncounted(delay) = handler.retry(&failure) else { return Err(failure.to_string()) };
    if failure.is_transient() {
        tracing::warn!(%failure, job.id, "a job waits for a backend");
    } else {
        tracing::error!(%failure, job.id, "a job failed that is not given up");
    }
    jobs.delayed(job, delay).map(JobOutcome::Reschedule).map_err(|error| error.to_string())
}
