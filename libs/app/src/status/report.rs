//! The public report: states of components, their last 90 days, incidents, and the backlog of jobs.

use std::{collections::HashMap, ops::RangeInclusive, sync::PoisonError, time::Duration};

use futures_util::future::try_join_all;
use tokio::time::timeout;
use trapline_model::{
    Component, ComponentStatus, DayStatus, JobBacklog, ServiceState, ServiceStatus, StatusIncident,
    Time,
};
use trapline_store::{
    Lane, load_all,
    records::{Incident, UptimeDay, day_of, start_of_day},
};

use super::Status;
use crate::{Error, Result, jobs::lane_stats};

/// Days of the report.
const DAYS: u16 = 90;
/// Incidents of the report.
const MAX_INCIDENTS: usize = 50;
/// A component whose last sample is older counts as degraded.
const STALE_AFTER: Duration = Duration::from_mins(5);
/// How long the store and the queue have for their answers.
const READ_TIMEOUT: Duration = Duration::from_secs(3);

impl Status {
    /// The state of the service. While the store does not answer within 3 s it is the last report, with an
    /// outage of the storage. A report costs about 90 rows a component; the caller caches it.
    pub async fn report(&self) -> ServiceStatus {
        let read = timeout(READ_TIMEOUT, self.read()).await;
        let mut last = self.last_report.lock().unwrap_or_else(PoisonError::into_inner);
        match read.unwrap_or(Err(Error::Unavailable)) {
            Ok(report) => last.insert(report).clone(),
            Err(error) => {
                tracing::warn!(%error, "the status could not be read and is the last one");
                let report = last.clone().unwrap_or_else(|| unknown(self.clock.now()));
                without_storage(report)
            }
        }
    }

    async fn read(&self) -> Result<ServiceStatus> {
        let now = self.clock.now();
        let (days, incidents, backlog) = tokio::join!(
            try_join_all(Component::ALL.map(|component| self.days(component, now))),
            self.incidents(now, MAX_INCIDENTS),
            self.backlog(),
        );
        let mut incidents = incidents?;
        // An open incident of this process may not be written yet.
        for open in self.histories.lock().await.iter().filter_map(|history| history.open) {
            if !incidents.contains(&open) {
                incidents.insert(0, open);
            }
        }
        let since = start_of_day(*shown_days(now).start());
        incidents.retain(|it| it.resolved_at.is_none_or(|end| end >= since));
        incidents.truncate(MAX_INCIDENTS);
        let components = Component::ALL.into_iter().zip(days?);
        let components = components.map(|(component, days)| {
            let is_down =
                incidents.iter().any(|it| it.component == component && it.resolved_at.is_none());
            component_status(component, &days, is_down, now)
        });
        let components: Vec<_> = components.collect();
        Ok(ServiceStatus {
            status: worst(&components),
            components,
            backlog,
            incidents: incidents.iter().map(present).collect(),
        })
    }

    /// The days of a component: those that are stored, and over them those that this process has.
    async fn days(&self, component: Component, now: Time) -> Result<HashMap<i64, UptimeDay>> {
        let scan = UptimeDay::newest(component, DAYS.into());
        let days = load_all::<UptimeDay>(&*self.store, scan).await?.into_iter();
        let shown = shown_days(now);
        let days = days.filter(|day| shown.contains(&day.day));
        let mut days: HashMap<_, _> = days.map(|day| (day.day, day)).collect();
        let histories = self.histories.lock().await;
        let own = histories.iter().find(|history| history.component == component);
        for day in own.iter().flat_map(|own| own.unwritten.days.iter().chain(&own.day)) {
            days.insert(day.day, *day);
        }
        Ok(days)
    }

    async fn backlog(&self) -> Option<JobBacklog> {
        let log = |error: &_| tracing::warn!(%error, "the backlog could not be read");
        let lanes = lane_stats(&*self.queue, &Lane::ALL).await.inspect_err(log).ok()?;
        let mut all = JobBacklog::default();
        for (_, stats) in lanes {
            all.pending += stats.ready + stats.leased;
            all.overdue += stats.overdue;
            let oldest = stats.oldest_overdue.unwrap_or_default().as_secs();
            all.oldest_seconds = all.oldest_seconds.max(oldest);
        }
        Some(all)
    }
}

fn component_status(
    component: Component,
    days: &HashMap<i64, UptimeDay>,
    is_down: bool,
    now: Time,
) -> ComponentStatus {
    let newest = days.values().max_by_key(|day| day.last_at);
    let is_well = newest.is_none_or(|day| day.last_ok && now.since(day.last_at) <= STALE_AFTER);
    let status = match (is_down, is_well) {
        (true, _) => ServiceState::Outage,
        (false, false) => ServiceState::Degraded,
        (false, true) => ServiceState::Operational,
    };
    let shown = shown_days(now).map(|day| DayStatus {
        date: date(day),
        uptime: days.get(&day).and_then(|day| percentage(day.taken.into(), day.failed.into())),
    });
    let taken = days.values().map(|day| u64::from(day.taken)).sum();
    let failed = days.values().map(|day| u64::from(day.failed)).sum();
    ComponentStatus {
        id: component,
        name: component.name().to_owned(),
        status,
        uptime90d: percentage(taken, failed),
        days: shown.collect(),
    }
}

/// The days that are shown, the oldest first.
fn shown_days(now: Time) -> RangeInclusive<i64> {
    let today = day_of(now);
    today - i64::from(DAYS) + 1..=today
}

/// The share of probes that went well, in percent to three decimals, rounded down: 100 only if none failed.
/// `None` without probes.
fn percentage(taken: u64, failed: u64) -> Option<f64> {
    if taken == 0 {
        return None;
    }
    let thousandths = (taken - failed.min(taken)) * 100_000 / taken;
    #[expect(clippy::cast_precision_loss, reason = "at most 100,000")]
    Some(thousandths as f64 / 1000.0)
}

fn date(day: i64) -> String {
    let mut text = start_of_day(day).to_string();
    text.truncate(text.find('T').unwrap_or(text.len()));
    text
}

fn worst(components: &[ComponentStatus]) -> ServiceState {
    components.iter().map(|it| it.status).max().unwrap_or(ServiceState::Operational)
}

fn present(incident: &Incident) -> StatusIncident {
    let Incident { component, started_at, resolved_at } = *incident;
    StatusIncident {
        id: format!("{}-{}", component.id(), started_at.millis()),
        title: component.incident_title().to_owned(),
        started_at,
        resolved_at,
        component,
    }
}

fn unknown(now: Time) -> ServiceStatus {
    let none = HashMap::new();
    let without_samples = |component| component_status(component, &none, false, now);
    ServiceStatus {
        status: ServiceState::Operational,
        components: Component::ALL.map(without_samples).into(),
        backlog: None,
        incidents: Vec::new(),
    }
}

fn without_storage(mut report: ServiceStatus) -> ServiceStatus {
    for component in report.components.iter_mut().filter(|it| it.id == Component::Storage) {
        component.status = ServiceState::Outage;
    }
    report.status = worst(&report.components);
    report
}
