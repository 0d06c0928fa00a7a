//! The state of a webhook's endpoint in this process: running calls, latency and failures. Each process
//! measures for itself.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use moka::sync::Cache;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trapline_model::{Time, WebhookId};
use trapline_store::Lane;

use super::{
    pacing::Pacing,
    schedule::{SLOW_DELAY, Schedule},
};

/// Calls of one webhook that a process makes at once.
pub(super) const MAX_CONCURRENT_CALLS: usize = 4;
/// Jobs with new deliveries of one webhook that are worked on at once: of an endpoint that answers
/// quickly, and of any other.
const MAX_JOBS: usize = 32;
const MAX_JOBS_SLOW: usize = MAX_CONCURRENT_CALLS;
/// The mean latency up to which an endpoint is quick.
const QUICK_LATENCY: Duration = Duration::from_millis(100);
/// The latency that is assumed of an endpoint before its first answer.
const INITIAL_LATENCY: Duration = Duration::from_millis(50);
/// How long new deliveries may wait for those before them; others go to the backlog.
const MAX_WAIT: Duration = Duration::from_millis(500);
const MAX_WAITING: usize = 1_000;

/// An endpoint goes to the slow lane after so many failures in a row, or when half of its last answers
/// took longer than [`SLOW_LATENCY`]; it comes back after so many good answers in a row.
const STREAK: u32 = 3;
const SLOW_LATENCY: Duration = Duration::from_secs(5);
const GOOD_LATENCY: Duration = Duration::from_secs(2);
const LATENCY_WINDOW: usize = 20;

/// Endpoints that are known, and for how long after their last use.
const CACHE_CAPACITY: u64 = 100_000;
const IDLE_TIMEOUT: Duration = Duration::from_hours(1);

pub(super) struct Endpoints {
    known: Cache<WebhookId, Arc<Endpoint>>,
    pub(super) pacing: Pacing,
}

impl Endpoints {
    pub(super) fn new(pacing: Pacing) -> Self {
        let known = Cache::builder().max_capacity(CACHE_CAPACITY).time_to_idle(IDLE_TIMEOUT);
        Self { known: known.build(), pacing }
    }

    pub(super) fn of(&self, webhook: WebhookId) -> Arc<Endpoint> {
        self.known.get_with(webhook, || Arc::new(Endpoint::new(self.pacing)))
    }
}

pub(super) struct Endpoint {
    calls: Arc<Semaphore>,
    health: Mutex<EndpointHealth>,
    pub(super) schedule: Schedule,
    /// Held while a job for the backlog is published: who comes next then knows of it.
    pub(super) publishing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct EndpointHealth {
    jobs: usize,
    /// Deliveries of these jobs.
    waiting: usize,
    /// Mean, of which the latest answers count most.
    latency: Option<Duration>,
    failures: u32,
    good: u32,
    answers: VecDeque<Duration>,
    slow: bool,
}

/// New deliveries that are called for without a place in the backlog; over when this is dropped.
pub(super) struct EndpointAdmission {
    endpoint: Arc<Endpoint>,
    deliveries: usize,
}

impl Drop for EndpointAdmission {
    fn drop(&mut self) {
        let mut health = self.endpoint.health();
        health.jobs -= 1;
        health.waiting -= self.deliveries;
    }
}

impl Endpoint {
    pub(super) fn new(pacing: Pacing) -> Self {
        Self {
            calls: Arc::new(Semaphore::new(MAX_CONCURRENT_CALLS)),
            health: Mutex::default(),
            schedule: Schedule::new(pacing),
            publishing: tokio::sync::Mutex::default(),
        }
    }

    /// Lets in new deliveries if those before them leave room soon.
    pub(super) fn admit(self: &Arc<Self>, deliveries: usize) -> Option<EndpointAdmission> {
        if self.schedule.is_running() {
            // What is in the backlog comes first.
            return None;
        }
        let mut health = self.health();
        if health.jobs >= health.max_jobs()
            || (health.jobs > 0 && health.waiting + deliveries > health.max_waiting())
        {
            return None;
        }
        health.jobs += 1;
        health.waiting += deliveries;
        drop(health);
        Some(EndpointAdmission { endpoint: self.clone(), deliveries })
    }

    /// Waits for the right to make a call.
    pub(super) async fn call_permit(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        self.calls.clone().acquire_owned().await.ok()
    }

    /// Counts an answer, or a failure, for the endpoint's latency and lane.
    pub(super) fn note_answer(&self, ok: bool, took: Duration) {
        self.health().record_answer(ok, took);
    }

    /// The lane in which the endpoint's deliveries are worked on.
    pub(super) fn lane(&self) -> Lane {
        if self.health().slow { Lane::WebhookSlow } else { Lane::Webhook }
    }

    /// The earliest time of the next run: a slow endpoint waits, so that one job takes more entries.
    pub(super) fn earliest_run(&self, now: Time) -> Time {
        if self.health().slow { now.after(SLOW_DELAY) } else { now }
    }

    /// Whether deliveries of this endpoint hold up others in a lane.
    pub(super) fn is_too_slow_for(&self, lane: Lane) -> bool {
        lane == Lane::Webhook && self.health().slow
    }

    fn health(&self) -> MutexGuard<'_, EndpointHealth> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EndpointHealth {
    fn max_jobs(&self) -> usize {
        let quick = self.latency.is_some_and(|latency| latency <= QUICK_LATENCY);
        if quick { MAX_JOBS } else { MAX_JOBS_SLOW }
    }

    fn max_waiting(&self) -> usize {
        let latency = self.latency.unwrap_or(INITIAL_LATENCY).max(Duration::from_micros(100));
        let in_time = usize::try_from(MAX_WAIT.as_micros() / latency.as_micros());
        let calls = in_time.unwrap_or(MAX_WAITING).saturating_mul(MAX_CONCURRENT_CALLS);
        calls.clamp(MAX_CONCURRENT_CALLS, MAX_WAITING)
    }

    fn record_answer(&mut self, ok: bool, took: Duration) {
        self.latency = Some(self.latency.map_or(took, |latency| (latency * 3 + took) / 4));
        self.failures = if ok { 0 } else { self.failures + 1 };
        self.good = if ok && took < GOOD_LATENCY { self.good + 1 } else { 0 };
        self.answers.push_back(took);
        if self.answers.len() > LATENCY_WINDOW {
            self.answers.pop_front();
        }
        let long = self.answers.iter().filter(|took| **took > SLOW_LATENCY).count();
        if self.failures >= STREAK || long * 2 > LATENCY_WINDOW {
            self.slow = true;
        } else if self.slow && self.good >= STREAK {
            self.slow = false;
            self.answers.clear();
        }
    }
}

#[cfg(test)]
mod tests;
