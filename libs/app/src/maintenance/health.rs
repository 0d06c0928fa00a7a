//! Whether the service works.

use std::time::Duration;

use trapline_store::Lane;

use super::Maintenance;
use crate::{
    Result,
    heartbeats::{RoleState, WORKER},
    jobs::lane_stats,
};

/// Time between two heartbeats of a process with job loops.
const BEAT_INTERVAL: Duration = Duration::from_secs(10);

/// What the deep check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Whether an SMTP server had a heartbeat in the last 45 s.
    pub smtp: bool,
    /// Whether a worker had a heartbeat in the last 45 s, and no worker's job loop is stuck.
    pub worker: bool,
    /// Jobs due for more than a minute.
    pub overdue_jobs: u64,
    /// Milliseconds by which this process's clock is ahead of the store's, where that has another.
    pub clock_skew_ms: Option<i64>,
    /// What is not as it should be: `smtp_missing`, `worker_missing`, `worker_stuck` or
    /// `jobs_overdue`.
    pub reasons: Vec<&'static str>,
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

    /// Whether every role had a heartbeat lately and no jobs pile up.
    ///
    /// # Errors
    ///
    /// When the store or the queue does not answer.
    pub async fn deep_health(&self) -> Result<Health> {
        let smtp = self.heartbeats.count_living("smtp").await? > 0;
        let worker = self.heartbeats.state(WORKER).await?;
        let overdue_jobs = self.overdue_jobs().await?;
        let reasons = [
            ("smtp_missing", !smtp),
            ("worker_missing", worker == RoleState::Missing),
            ("worker_stuck", worker == RoleState::Stuck),
            ("jobs_overdue", overdue_jobs >= self.max_overdue_jobs),
        ];
        let reasons = reasons.into_iter().filter(|(_, holds)| *holds);
        let reasons: Vec<_> = reasons.map(|(reason, _)| reason).collect();
        Ok(Health {
            smtp,
            worker: worker == RoleState::Works,
            overdue_jobs,
            clock_skew_ms: self.skew.millis(),
            ok: reasons.is_empty(),
            reasons,
        })
    }

    async fn overdue_jobs(&self) -> Result<u64> {
        let lanes = lane_stats(&*self.queue, &Lane::ALL).await?;
        Ok(lanes.iter().map(|(_, stats)| stats.overdue).sum())
    }

    /// Notes that the job loop of a lane made progress, and sends a heartbeat of its process. Called from
    /// inside the loop.
    pub async fn note_job_loop(&self, lane: Lane, instance: &str) {
        self.heartbeats.note_loop(lane.name());
        self.heartbeats.beat(WORKER, instance, 0).await;
    }

    /// Sends a heartbeat every 10 s until shutdown, also while a job loop is stuck, so that such a process
    /// is told from one that is gone.
    pub async fn run_worker_heartbeat(&self, instance: &str) {
        let beats = async {
            loop {
                self.clock.sleep(BEAT_INTERVAL).await;
                self.heartbeats.beat(WORKER, instance, 0).await;
            }
        };
        self.shutdown.run_until_cancelled(beats).await;
    }

    /// Sends a heartbeat of a role; one that cannot be written is logged.
    pub async fn beat(&self, role: &str, instance: &str) {
        self.heartbeats.beat(role, instance, 0).await;
    }
}
