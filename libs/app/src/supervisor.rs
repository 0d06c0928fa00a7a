//! Tasks that must run as long as the service: one that returns or panics early ends the process.

use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Starts tasks, and tells when one of them returns or panics although nobody asked for a shutdown.
/// It stops nothing by itself: whoever hears of it cancels the shutdown that all tasks end with. Clones are of the
/// same tasks.
#[derive(Debug, Clone)]
pub struct Supervisor {
    tasks: TaskTracker,
    shutdown: CancellationToken,
    first_failure: watch::Sender<Option<&'static str>>,
}

impl Supervisor {
    /// For tasks that end with `shutdown`.
    #[must_use]
    pub fn new(shutdown: CancellationToken) -> Self {
        Self { tasks: TaskTracker::new(), shutdown, first_failure: watch::Sender::new(None) }
    }

    /// Starts a task; `name` is what the log and [`Supervisor::first_failure`] call it.
    pub fn spawn(&self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        let watched = Watched {
            name,
            shutdown: self.shutdown.clone(),
            first_failure: self.first_failure.clone(),
        };
        self.tasks.spawn(async move {
            let _watched = watched;
            work.await;
        });
    }

    /// Waits until a task has ended before its time, and returns its name.
    pub async fn first_failure(&self) -> &'static str {
        let mut first_failure = self.first_failure.subscribe();
        match first_failure.wait_for(Option::is_some).await.map(|name| *name) {
            Ok(Some(name)) => name,
            // The sender is in `self`, so there is always one.
            _ => std::future::pending().await,
        }
    }

    /// Waits until every task has ended; call it when the shutdown is on its way.
    pub async fn wait_for_all(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Dropped when its task ends in whatever way: a panic unwinds through it.
struct Watched {
    name: &'static str,
    shutdown: CancellationToken,
    first_failure: watch::Sender<Option<&'static str>>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.shutdown.is_cancelled() {
            return;
        }
        let name = self.name;
        let is_first = self
            .first_failure
            .send_if_modified(|first_failure| first_failure.replace(name).is_none());
        if is_first {
            tracing::error!(task = name, "a task ended before its time");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn until_shutdown(shutdown: CancellationToken) {
        shutdown.cancelled().await;
    }

    #[tokio::test]
    async fn a_task_that_returns_or_panics_early_is_named() {
        let returns: fn() = || ();
        let panics: fn() = || panic!("as planned");
        for (name, end) in [("returns", returns), ("panics", panics)] {
            let shutdown = CancellationToken::new();
            let supervisor = Supervisor::new(shutdown.clone());
            supervisor.spawn("lives", until_shutdown(shutdown.clone()));
            supervisor.spawn(name, async move { end() });
            assert_eq!(supervisor.first_failure().await, name);
            shutdown.cancel();
            supervisor.wait_for_all().await;
        }
    }

    #[tokio::test]
    async fn tasks_that_end_with_the_shutdown_are_not_broken() {
        let shutdown = CancellationToken::new();
        let supervisor = Supervisor::new(shutdown.clone());
        supervisor.spawn("lives", until_shutdown(shutdown.clone()));
        supervisor.spawn("panics in its drain", {
            let shutdown = shutdown.clone();
            async move {
                shutdown.cancelled().await;
                panic!("as planned");
            }
        });
        shutdown.cancel();
        supervisor.wait_for_all().await;
        assert!(supervisor.first_failure.borrow().is_none());
    }
}
