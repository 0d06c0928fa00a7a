//! Whether the service works.

use trapline_store::Lane;

use super::Maintenance;
use crate::Result;

/// What the deep check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Whether an SMTP server showed itself in the last 45 s.
    pub smtp: bool,
    /// Whether a job loop showed itself in the last 45 s.
    pub worker: bool,
    /// Jobs due for more than a minute.
    pub overdue_jobs: u64,
    /// Milliseconds by which this process's clock is ahead of the store's, where that has another.
    pub clock_skew_ms: Option<i64>,
    /// Whether service, workers and jobs are as they should be.
    pub ok: bool,
}

impl Maintenance {
    /// Whether the store answers. An outage is logged.
    pub async fn ping(&self) -> bool {
        match self.store.ping().await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "the store does not answer");
                false
            }
        }
    }

    /// Checks that there is room for mail, and for what users add. It is really tried, at most every
    /// 5 s.
    ///
    /// # Errors
    ///
    /// [`Error::StorageFull`](crate::Error::StorageFull) while there is none.
    pub async fn room_for_more(&self) -> Result<()> {
        self.room.check().await
    }

    /// Whether every part of the service showed itself lately and no jobs pile up.
    ///
    /// # Errors
    ///
    /// When the store or the queue does not answer.
    pub async fn deep_health(&self) -> Result<Health> {
        let smtp = self.heartbeats.living("smtp").await? > 0;
        let worker = self.heartbeats.living("worker").await? > 0;
        let overdue_jobs = self.overdue_jobs().await?;
        let ok = smtp && worker && overdue_jobs < self.max_overdue_jobs;
        Ok(Health { smtp, worker, overdue_jobs, clock_skew_ms: self.skew.millis(), ok })
    }

    async fn overdue_jobs(&self) -> Result<u64> {
        let mut overdue = 0;
        for lane in Lane::ALL {
            overdue += self.queue.stats(lane).await?.overdue;
        }
        Ok(overdue)
    }

    /// Shows that a role lives; called from inside the loop that it vouches for. One that could not be
    /// shown is logged.
    pub async fn beat(&self, role: &str, instance: &str) {
        self.heartbeats.beat(role, instance, 0).await;
    }
}
