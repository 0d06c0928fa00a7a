//! Jobs: durable wake-ups with a lease.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use trapline_model::Time;

use super::{Op, PortError, Result};

/// Makes the lanes out of one line each. Everything else follows from [`Lane::ALL`] and [`Lane::name`]:
/// subjects and consumers of JetStream, rows, wake-ups, statistics and the labels of metrics.
macro_rules! lanes {
    ($($(#[$doc:meta])* $lane:ident = $name:literal,)*) => {
        /// A kind of work with its own consumers and limits.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Lane {
            $($(#[$doc])* $lane,)*
        }

        impl Lane {
            /// Every lane.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$lane),*];

            /// A word for keys and metrics.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$lane => $name,)*
                }
            }
        }
    };
}

lanes! {
    /// Mail arrived.
    Received = "received",
    /// A webhook is to be called.
    Webhook = "webhook",
    /// A webhook is to be called that keeps others waiting.
    WebhookSlow = "webhook_slow",
    /// A message is to be forwarded.
    Forward = "forward",
    /// The service itself has mail to send.
    Mail = "mail",
    /// A mock has something to send.
    Mock = "mock",
    /// Clean-up.
    Housekeeping = "housekeeping",
}

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Stable: publishing the same id again within two minutes stores it once.
    pub id: String,
    /// Who works on it.
    pub lane: Lane,
    /// 1 for the first try.
    pub attempt: u32,
    /// What is to be done.
    pub body: serde_json::Value,
}

/// A job this worker holds until it finishes, retries, or the lease (30 s) runs out.
#[derive(Debug)]
pub struct Lease {
    /// The work.
    pub job: Job,
    /// The adapter's own mark of the lease.
    pub token: Box<dyn std::any::Any + Send + Sync>,
}

/// How a lane stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LaneStats {
    /// Due and not leased.
    pub ready: u64,
    /// Held by a worker.
    pub leased: u64,
    /// Not yet due.
    pub delayed: u64,
    /// Due for more than a minute, and not leased.
    pub overdue: u64,
    /// How long the oldest of those has been due.
    pub oldest_overdue: Option<Duration>,
}

/// How a job gets into the queue together with the rows that cause it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobDelivery {
    /// Rows and jobs are in one database, which loses nothing that it acknowledged: one commit has both.
    WithRows,
    /// The queue may lose what it acknowledged. A row of the outbox, written with the other rows, stands
    /// behind each job until it is done.
    ThroughOutbox,
}

/// The job queue: at-least-once, with delays.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Returns once the job is stored; `due` in the future delays it.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn publish(&self, job: &Job, due: Option<Time>) -> Result<()>;
    /// Stores rows and jobs, each with its due time, in one commit: all or none. Only a queue with
    /// [`JobDelivery::WithRows`] can.
    ///
    /// # Errors
    ///
    /// [`Conflict`](PortError::Conflict) when a condition of a row does not hold, and nothing is stored;
    /// [`Misuse`](PortError::Misuse) where rows are in another database; else as any call (see [`super`]).
    async fn publish_with(&self, rows: Vec<Op>, jobs: Vec<(Job, Time)>) -> Result<()> {
        drop((rows, jobs));
        Err(PortError::Misuse("rows for a queue that holds jobs only"))
    }
    /// Waits up to `wait` for the first due job, then takes up to `max`, the longest due first.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn take(&self, lane: Lane, max: usize, wait: Duration) -> Result<Vec<Lease>>;
    /// Removes the job.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn finish(&self, lease: Lease) -> Result<()>;
    /// Stores `next` for `due`, then finishes this lease. A crash between the two repeats the job.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn retry(&self, lease: Lease, next: &Job, due: Time) -> Result<()>;
    /// Starts the lease's time anew.
    ///
    /// # Errors
    ///
    /// [`Conflict`](PortError::Conflict) when the lease had run out and somebody else holds the job; else as any call
    /// (see [`super`]).
    async fn extend(&self, lease: &Lease) -> Result<()>;
    /// Counts the lane's jobs.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn stats(&self, lane: Lane) -> Result<LaneStats>;
}
