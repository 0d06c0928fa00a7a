//! The job loop: takes what is due in a lane, and works on a bounded number of jobs at once.

use std::{panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use tokio::{task::JoinSet, time::timeout};
use trapline_app::{App, Error, Job, Lacking, Lane, Lease, Supervisor, metrics};
use trapline_model::Time;

/// How often a loop shows that it lives, and the longest that it waits for anything.
const LOOK: Duration = Duration::from_secs(10);
const PAUSE_AFTER_FAULT: Duration = Duration::from_secs(1);
/// How long jobs may go on after the shutdown began. What is not done by then runs again elsewhere.
const DRAIN: Duration = Duration::from_secs(25);

/// What is to become of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It is over.
    Done,
    /// This one takes its place, at the due time in its body.
    Again(Job),
}

/// Does the work of one lane. A job may come more than once: doing it again must be harmless.
#[async_trait]
pub trait Handler: Send + Sync {
    /// The lane whose jobs it takes.
    fn lane(&self) -> Lane;
    /// How many jobs run at once at most; one if this is 0.
    fn at_once(&self) -> usize;
    /// Does the work. A job whose handler fails or panics is tried again after 30 s, ten times in
    /// all; failures that the work itself foresees are for [`Ended::Again`].
    async fn run(&self, job: &Job) -> Result<Ended, Error>;
}

/// Starts the janitor and every handler's lane, each a task of its own; they end with the shutdown,
/// after a drain. `instance` tells this process from the others that live; `holder` is whose name the
/// janitor's leases are in, which a process that starts again keeps.
pub fn start(
    tasks: &Supervisor,
    app: &Arc<App>,
    handlers: Vec<Arc<dyn Handler>>,
    instance: &str,
    holder: String,
) {
    let service = app.clone();
    tasks.spawn("janitor", async move { service.maintenance().run_janitor(&holder).await });
    for handler in handlers {
        let lane = handler.lane().name();
        tasks.spawn(lane, run_lane(app.clone(), handler, instance.to_owned()));
    }
}

/// Works on the handler's lane until shutdown, then waits up to 25 s for what still runs.
pub async fn run_lane(app: Arc<App>, handler: Arc<dyn Handler>, instance: String) {
    let shutdown = app.shutdown().clone();
    let mut lane = LaneLoop { app, handler, instance, running: JoinSet::new(), shown: None };
    shutdown.run_until_cancelled(lane.go_on()).await;
    lane.drain().await;
}

struct LaneLoop {
    app: Arc<App>,
    handler: Arc<dyn Handler>,
    instance: String,
    running: JoinSet<()>,
    shown: Option<Time>,
}

impl LaneLoop {
    async fn go_on(&mut self) {
        loop {
            self.show_life().await;
            while self.running.try_join_next().is_some() {}
            let free = self.handler.at_once().max(1).saturating_sub(self.running.len());
            if free > 0 {
                self.take(free).await;
            } else if timeout(LOOK, self.running.join_next()).await.is_err() {
                tracing::debug!(lane = self.handler.lane().name(), "every slot stays taken");
            }
        }
    }

    async fn show_life(&mut self) {
        let now = self.app.now();
        if self.shown.is_none_or(|shown| now.since(shown) >= LOOK) {
            self.app.maintenance().beat("worker", &self.instance).await;
            self.shown = Some(now);
        }
    }

    async fn take(&mut self, free: usize) {
        match self.app.jobs().take(self.handler.lane(), free, LOOK).await {
            Ok(leases) => {
                for lease in leases {
                    let (app, handler) = (self.app.clone(), self.handler.clone());
                    self.running.spawn(work(app, handler, lease));
                }
            }
            Err(error) => {
                tracing::error!(%error, "the job queue does not answer");
                tokio::time::sleep(PAUSE_AFTER_FAULT).await;
            }
        }
    }

    async fn drain(mut self) {
        let ended = async { while self.running.join_next().await.is_some() {} };
        if timeout(DRAIN, ended).await.is_err() {
            let jobs = self.running.len();
            tracing::warn!(jobs, "jobs were broken off; they will run again");
            self.running.shutdown().await;
        }
    }
}

async fn work(app: Arc<App>, handler: Arc<dyn Handler>, lease: Lease) {
    let outcome = run_held(&app, handler.as_ref(), &lease).await;
    metrics::job_done(lease.job.lane, outcome.is_ok());
    let ended = match outcome {
        Ok(Ended::Done) => app.jobs().complete(lease).await,
        Ok(Ended::Again(next)) => app.jobs().reschedule(lease, &next).await,
        Err(why) => app.jobs().fail(lease, &why).await,
    };
    if let Err(error) = ended {
        tracing::warn!(%error, "a job's end was not stored; it will run again");
    }
}

/// Runs the handler while the lease is extended. A lease that was lost all the same stops nothing:
/// half a job is worse than one done twice.
async fn run_held(app: &App, handler: &dyn Handler, lease: &Lease) -> Result<Ended, String> {
    let mut run = pin!(AssertUnwindSafe(handler.run(&lease.job)).catch_unwind());
    let outcome = tokio::select! {
        outcome = &mut run => outcome,
        () = app.jobs().keep(lease) => run.await,
    };
    match outcome {
        // Another process may be of a later release.
        Ok(Err(error)) if error.is_unknown_work() => {
            let next = app.jobs().put_back(&lease.job, Lacking::KindOfWork);
            next.map(|next| next.map_or(Ended::Done, Ended::Again)).map_err(|_| error.to_string())
        }
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err("the handler panicked".to_owned()),
    }
}
