//! Whether the service works.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use trapline_store::{Lane, Op, Record, When, records::Heartbeat};

use crate::{App, Result};

/// A role that was silent for longer is missing.
const SILENT: Duration = Duration::from_secs(45);
const KEPT: Duration = Duration::from_mins(2);

/// What the deep check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Whether an SMTP server showed itself lately.
    pub smtp: bool,
    /// Whether a job loop showed itself lately.
    pub worker: bool,
    /// Jobs due for more than a minute.
    pub overdue_jobs: u64,
    /// Milliseconds by which this process's clock is ahead of the store's, where that has another.
    pub clock_skew_ms: Option<i64>,
    /// Whether service, workers and jobs are as they should be.
    pub ok: bool,
}

/// The signs of life of a process that is alone.
#[derive(Default)]
pub(crate) struct Beats(Mutex<Vec<Heartbeat>>);

impl Beats {
    fn note(&self, beat: Heartbeat) {
        let mut beats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        beats.retain(|old| (&old.role, &old.instance) != (&beat.role, &beat.instance));
        beats.push(beat);
    }

    fn of_role(&self, role: &str) -> Vec<Heartbeat> {
        let beats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        beats.iter().filter(|beat| beat.role == role).cloned().collect()
    }
}

impl App {
    /// Whether the store answers.
    pub async fn ping(&self) -> bool {
        match self.ports.store.ping().await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "the store does not answer");
                false
            }
        }
    }

    /// Whether every part of the service showed itself lately and no jobs pile up.
    pub async fn deep_health(&self) -> Result<Health> {
        let (smtp, worker) = (self.living("smtp").await? > 0, self.living("worker").await? > 0);
        let overdue_jobs = self.overdue_jobs().await?;
        let ok = smtp && worker && overdue_jobs < self.settings.max_overdue_jobs;
        Ok(Health { smtp, worker, overdue_jobs, clock_skew_ms: self.skew.millis(), ok })
    }

    async fn overdue_jobs(&self) -> Result<u64> {
        let mut overdue = 0;
        for lane in Lane::ALL {
            overdue += self.ports.queue.stats(lane).await?.overdue;
        }
        Ok(overdue)
    }

    /// How many processes of a role showed themselves lately.
    pub(crate) async fn living(&self, role: &str) -> Result<usize> {
        let beats = if self.is_alone() {
            self.beats.of_role(role)
        } else {
            let rows = self.ports.store.scan(Heartbeat::of_role(role)).await?;
            rows.iter().map(Heartbeat::of).collect::<Result<Vec<_>, _>>()?
        };
        Ok(beats.iter().filter(|beat| self.now().since(beat.at) < SILENT).count())
    }

    /// Whether no other process stores anything.
    pub(crate) fn is_alone(&self) -> bool {
        self.ports.queue.durable()
    }

    /// Shows that a role lives; called from inside the loop that it vouches for.
    pub async fn beat(&self, role: &str, instance: &str) {
        self.write_beat(role, instance, 0).await;
    }

    pub(crate) async fn write_beat(&self, role: &str, instance: &str, unannounced: u64) {
        let (role, instance) = (role.to_owned(), instance.to_owned());
        let beat = Heartbeat { role, instance, at: self.now(), unannounced };
        if self.is_alone() {
            // Nobody else asks, and what is idle writes nothing.
            self.beats.note(beat);
            return;
        }
        let written = match Op::put(&beat, Some(KEPT), When::Always) {
            Ok(put) => self.ports.store.write(vec![put]).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            tracing::warn!(%error, role = beat.role, "a sign of life was not written");
        }
    }
}
