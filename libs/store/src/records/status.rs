//! Probes of the service: samples, days, and incidents.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::{Component, Time};

use super::{int, text};
use crate::{Key, Order, Record, Scan, Storage, Table, Value};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[CHECK_SAMPLE, UPTIME_DAY, INCIDENT];

const CHECK_SAMPLE: &Table = &Table {
    name: "check_sample",
    partition: &[text("component"), int("day")],
    sort: &[int("minute")],
    order: Order::NewestFirst,
    storage: Storage::Log { window: Duration::from_hours(6), ttl: CheckSample::KEPT },
    about: "A probe of a part of the service; kept in memory in one process.",
    ..Table::PLAIN
};

const UPTIME_DAY: &Table = &Table {
    name: "uptime_day",
    partition: &[text("component")],
    sort: &[int("day")],
    order: Order::NewestFirst,
    about: "How many probes of a part of the service were taken and failed on a day; kept for 100 days.",
    ..Table::PLAIN
};

const INCIDENT: &Table = &Table {
    name: "incident",
    partition: &[int("quarter")],
    sort: &[int("started_ms"), text("component")],
    order: Order::NewestFirst,
    about: "A time in which a part of the service did not work; kept for 200 days.",
    ..Table::PLAIN
};

const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;
/// Days of a quarter's partition.
const QUARTER_DAYS: i64 = 91;

/// The number of a day in UTC, counted from 1970.
#[must_use]
pub fn day_of(at: Time) -> i64 {
    at.millis().div_euclid(DAY_MS)
}

/// When a day begins.
#[must_use]
pub fn start_of_day(day: i64) -> Time {
    Time::from_millis(day.saturating_mul(DAY_MS))
}

/// How one probe ended. A minute has one sample of a component, however often it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSample {
    /// What was probed.
    pub component: Component,
    /// When the probe was taken.
    pub at: Time,
    /// Whether it went well.
    pub ok: bool,
}

impl CheckSample {
    /// How long samples are kept.
    pub const KEPT: Duration = Duration::from_hours(72);
    /// How many samples a day has at most.
    pub const A_DAY: usize = 1_440;

    /// The samples of a day, newest first.
    #[must_use]
    pub fn of_day(component: Component, day: i64) -> Scan {
        let partition = vec![Value::Text(component.id().to_owned()), Value::Int(day)];
        let limit = Self::A_DAY;
        Scan::of(CHECK_SAMPLE, partition, limit)
    }
}

impl Record for CheckSample {
    const TABLE: &'static Table = CHECK_SAMPLE;
    fn key(&self) -> Key {
        let Scan { table, partition, .. } = Self::of_day(self.component, day_of(self.at));
        let minute = self.at.millis().rem_euclid(DAY_MS) / MINUTE_MS;
        Key { table, partition, sort: vec![Value::Int(minute)] }
    }
}

/// The probes of a component on a day, and how the last of them ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UptimeDay {
    /// What was probed.
    pub component: Component,
    /// The number of the day.
    pub day: i64,
    /// How many probes were taken.
    pub taken: u32,
    /// How many of them failed.
    pub failed: u32,
    /// When the last one was taken.
    pub last_at: Time,
    /// Whether it went well.
    pub last_ok: bool,
}

impl UptimeDay {
    /// How long a day is kept.
    pub const KEPT: Duration = Duration::from_hours(100 * 24);

    /// The newest days of a component.
    #[must_use]
    pub fn newest(component: Component, limit: usize) -> Scan {
        let partition = vec![Value::Text(component.id().to_owned())];
        Scan::of(UPTIME_DAY, partition, limit)
    }
}

impl Record for UptimeDay {
    const TABLE: &'static Table = UPTIME_DAY;
    fn key(&self) -> Key {
        let Scan { table, partition, .. } = Self::newest(self.component, 1);
        Key { table, partition, sort: vec![Value::Int(self.day)] }
    }
}

/// A time in which a component did not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// What did not work.
    pub component: Component,
    /// When the first probe failed.
    pub started_at: Time,
    /// When the first of the probes succeeded that ended it.
    pub resolved_at: Option<Time>,
}

impl Incident {
    /// How long an incident is kept: until its quarter is not shown any more.
    pub const KEPT: Duration = Duration::from_hours(200 * 24);

    /// The newest incidents of the quarter of a time.
    #[must_use]
    pub fn of_quarter(at: Time, limit: usize) -> Scan {
        let partition = vec![Value::Int(day_of(at).div_euclid(QUARTER_DAYS))];
        Scan::of(INCIDENT, partition, limit)
    }
}

impl Record for Incident {
    const TABLE: &'static Table = INCIDENT;
    fn key(&self) -> Key {
        let Scan { table, partition, .. } = Self::of_quarter(self.started_at, 1);
        let started = Value::Int(self.started_at.millis());
        Key { table, partition, sort: vec![started, Value::Text(self.component.id().to_owned())] }
    }
}
