//! Takes the probes, in rounds of a minute, and writes what they found.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use tokio::time::timeout;
use trapline_model::{Component, Time};
use trapline_store::{
    Lane, LaneStats, Op, When, load_all,
    records::{CheckSample, Incident, UptimeDay, day_of},
};

use super::{History, Probe, Status};
use crate::{Result, metrics, rows::write_all};

/// Time between two probes of a component.
const PROBE_INTERVAL: Duration = Duration::from_mins(1);
/// A probe that takes longer has failed.
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a process keeps a component's lease after its last probe.
const LEASE_TTL: Duration = Duration::from_mins(3);
/// Shortest time between two writes of a single process that no incident calls for.
const WRITE_INTERVAL: Duration = Duration::from_hours(1);
/// Newest incidents of a quarter among which an open one is searched.
const MAX_INCIDENTS: usize = 200;

/// What a process has to do for a component.
enum Assignment {
    /// Take the probe.
    Probe(Arc<dyn Probe>),
    /// Record a failure: no process lives that could take the probe.
    RoleMissing,
    /// Nothing: another process has the component.
    None,
}

impl Status {
    /// Takes probes until shutdown, the first ones a minute from now. `holder` names this process in leases.
    pub async fn run_probes(&self, holder: &str, probes: Vec<Arc<dyn Probe>>) {
        let rounds = async {
            loop {
                self.clock.sleep(PROBE_INTERVAL).await;
                self.take_probes(holder, &probes).await;
            }
        };
        self.shutdown.run_until_cancelled(rounds).await;
        self.end_probes(holder).await;
    }

    /// Takes each probe once whose component this process has.
    pub async fn take_probes(&self, holder: &str, probes: &[Arc<dyn Probe>]) {
        let at = self.clock.now();
        let taken = Component::ALL.map(|component| async move {
            let probe = probes.iter().find(|probe| probe.component() == component).cloned();
            let outcome = match self.assignment(component, holder, probe).await {
                Assignment::Probe(probe) => outcome(&*probe).await,
                Assignment::RoleMissing => Err("no process of this role shows itself".to_owned()),
                Assignment::None => return self.forget(component).await,
            };
            self.record(component, at, outcome).await;
        });
        join_all(taken).await;
        let mut written_at = self.written_at.lock().await;
        let is_time = !self.is_alone || at.since(*written_at) >= WRITE_INTERVAL;
        if self.write_unwritten(is_time).await {
            *written_at = at;
        }
    }

    /// Writes what is not written yet, and releases the leases.
    pub async fn end_probes(&self, holder: &str) {
        self.write_unwritten(true).await;
        for component in Component::ALL.into_iter().filter(|_| !self.is_alone) {
            if let Err(error) = self.leases.release(&lease_of(component), holder).await {
                tracing::debug!(%error, "a lease runs out by itself");
            }
        }
    }

    /// Forgets the history of a component that another process has.
    async fn forget(&self, component: Component) {
        let mut histories = self.histories.lock().await;
        let known = histories.len();
        histories.retain(|history| history.component != component);
        if component == Component::Queue && histories.len() < known {
            // The metrics of the lanes are now those of the other process.
            for lane in Lane::ALL {
                metrics::lane(lane, &LaneStats::default());
            }
        }
    }

    /// What this process has to do for a component. While the store does not answer, the holder of the lease
    /// goes on.
    async fn assignment(
        &self,
        component: Component,
        holder: &str,
        probe: Option<Arc<dyn Probe>>,
    ) -> Assignment {
        if self.is_alone {
            return probe.map_or(Assignment::None, Assignment::Probe);
        }
        let is_missing = probe.is_none() && self.is_missing(component).await;
        let lease = lease_of(component);
        let has_history = self.histories.lock().await.iter().any(|it| it.component == component);
        if probe.is_none() && !is_missing {
            if has_history && let Err(error) = self.leases.release(&lease, holder).await {
                tracing::debug!(%error, "a lease runs out by itself");
            }
            return Assignment::None;
        }
        match self.leases.hold(&lease, holder, LEASE_TTL).await {
            Ok(true) => probe.map_or(Assignment::RoleMissing, Assignment::Probe),
            Err(_) if has_history => probe.map_or(Assignment::RoleMissing, Assignment::Probe),
            _ => Assignment::None,
        }
    }

    /// Whether no process shows itself that could take the component's probe.
    async fn is_missing(&self, component: Component) -> bool {
        for role in roles_of(component) {
            if !matches!(self.heartbeats.count_living(role).await, Ok(0)) {
                return false;
            }
        }
        true
    }

    /// Records and logs the outcome of a probe.
    async fn record(&self, component: Component, at: Time, outcome: Result<(), String>) {
        let sample = CheckSample { component, at, ok: outcome.is_ok() };
        metrics::probe_taken(component, sample.ok);
        if let Err(reason) = outcome {
            tracing::warn!(component = component.id(), reason, "a probe failed");
        }
        match self.add(sample).await {
            Ok(false) => {}
            Ok(true) => {
                let works = sample.ok;
                tracing::warn!(component = component.id(), works, "an incident began or ended");
            }
            Err(error) => tracing::warn!(%error, component = component.id(), "a sample is lost"),
        }
    }

    /// Adds a sample to its history. Returns whether an incident began or ended with it.
    async fn add(&self, sample: CheckSample) -> Result<bool> {
        let mut histories = self.histories.lock().await;
        if let Some(known) = histories.iter_mut().find(|it| it.component == sample.component) {
            return Ok(known.add(sample));
        }
        let mut history = self.stored_history(sample.component, sample.at).await?;
        let has_changed = history.add(sample);
        histories.push(history);
        Ok(has_changed)
    }

    async fn stored_history(&self, component: Component, at: Time) -> Result<History> {
        let today = day_of(at);
        let days = load_all::<UptimeDay>(&*self.store, UptimeDay::newest(component, 1)).await?;
        let day = days.into_iter().find(|day| day.day == today);
        let samples = if self.is_alone {
            Vec::new()
        } else {
            load_all::<CheckSample>(&*self.store, CheckSample::of_day(component, today)).await?
        };
        let open = self.incidents(at, MAX_INCIDENTS).await?;
        let mut open = open.into_iter();
        let open = open.find(|it| it.component == component && it.resolved_at.is_none());
        Ok(History::of(component, day, &samples, open))
    }

    /// The newest incidents of this quarter and of the last one, newest first.
    pub(super) async fn incidents(&self, now: Time, limit: usize) -> Result<Vec<Incident>> {
        let last = now.before(Duration::from_hours(91 * 24));
        let mut found = Vec::new();
        for quarter in [now, last] {
            let scan = Incident::of_quarter(quarter, limit);
            found.extend(load_all::<Incident>(&*self.store, scan).await?);
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Writes what is not written yet, if it is time or an incident began or ended. Returns whether all of it
    /// was written; the rest is tried again the next time.
    async fn write_unwritten(&self, is_time: bool) -> bool {
        let mut histories = self.histories.lock().await;
        if !is_time && !histories.iter().any(|history| history.unwritten.is_urgent()) {
            return false;
        }
        let mut all = true;
        for history in histories.iter_mut() {
            let written = match self.ops_of(history) {
                Ok(ops) => write_all(&*self.store, ops).await,
                Err(error) => Err(error),
            };
            match written {
                Ok(()) => history.unwritten = <_>::default(),
                Err(error) => {
                    tracing::warn!(%error, "samples were not written yet");
                    all = false;
                }
            }
        }
        all
    }

    fn ops_of(&self, history: &History) -> trapline_store::Result<Vec<Op>> {
        let mut ops = Vec::new();
        for sample in history.unwritten.samples.iter().filter(|_| !self.is_alone) {
            ops.push(Op::put(sample, Some(CheckSample::KEPT), When::Always)?);
        }
        for day in history.unwritten.days.iter().chain(&history.day) {
            ops.push(Op::put(day, Some(UptimeDay::KEPT), When::Always)?);
        }
        for incident in &history.unwritten.incidents {
            ops.push(Op::put(incident, Some(Incident::KEPT), When::Always)?);
        }
        Ok(ops)
    }
}

async fn outcome(probe: &dyn Probe) -> Result<(), String> {
    let taken = timeout(PROBE_TIMEOUT, probe.take()).await;
    taken.unwrap_or_else(|_| Err(format!("no answer within {} s", PROBE_TIMEOUT.as_secs())))
}

/// The role whose processes take the probes of a component.
fn roles_of(component: Component) -> &'static [&'static str] {
    match component {
        Component::Smtp => &["smtp"],
        Component::Api => &["api"],
        Component::Storage => &["api", "worker"],
        Component::Queue | Component::Webhooks => &["worker"],
    }
}

fn lease_of(component: Component) -> String {
    format!("status/{}", component.id())
}
