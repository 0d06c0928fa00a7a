//! The worker of a process: the kinds of jobs that it does, and the janitor.

use std::sync::Arc;

use trapline_app::{App, Supervisor};

use crate::{handler::JobHandler, lane::run_lane};

/// Runs a job loop for each registered kind of job.
pub struct Worker {
    app: Arc<App>,
    handlers: Vec<Arc<dyn JobHandler>>,
}

impl Worker {
    /// Does no jobs yet.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        Self { app, handlers: Vec::new() }
    }

    /// Takes the jobs of the handler's lane. The handler says how many run at once and when failed ones
    /// are tried again; everything else (leases, metrics, jobs of later releases, panics, the drain) is
    /// the same for all. A lane has one handler.
    pub fn register(&mut self, handler: impl JobHandler + 'static) {
        self.handlers.push(Arc::new(handler));
    }

    /// Starts the janitor and the loop of every lane, each a task of its own; they end with the
    /// shutdown, after a drain. `instance` tells this process from the others that live; `holder` is
    /// the name in the janitor's leases, which a process that starts again keeps.
    pub fn start(self, tasks: &Supervisor, instance: &str, holder: String) {
        let app = self.app.clone();
        tasks.spawn("janitor", async move { app.maintenance().run_janitor(&holder).await });
        let (app, shown) = (self.app.clone(), instance.to_owned());
        tasks.spawn(
            "worker beat",
            async move { app.maintenance().run_worker_heartbeat(&shown).await },
        );
        for handler in self.handlers {
            let lane = handler.lane().name();
            tasks.spawn(lane, run_lane(self.app.clone(), handler, instance.to_owned()));
        }
    }
}
