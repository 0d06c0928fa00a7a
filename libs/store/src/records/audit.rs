//! What was changed by whom, and how far a team got in its first steps.

use std::time::Duration;

use jiff::tz::Offset;
use serde::{Deserialize, Serialize};
use trapline_model::{self as model, AuditEntryId, TeamId, Time};

use super::{day_of, int, team_scan, text, uuid};
use crate::{Key, Order, Record, RowOwner, Scan, Storage, Table, Value};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[AUDIT, AUDIT_BY_DAY, AUDIT_DAYS, ONBOARDING];

/// What is kept for the operator when a team is deleted.
pub(super) const LOG: [&Table; 3] = [AUDIT, AUDIT_BY_DAY, AUDIT_DAYS];

/// What the tables of the log have in common.
const LOG_TABLE: Table = Table {
    order: Order::NewestFirst,
    storage: Storage::Log { window: Duration::from_hours(10 * 24), ttl: AuditRecord::KEPT },
    owner: RowOwner::Team,
    ..Table::PLAIN
};

const AUDIT: &Table = &Table {
    name: "audit",
    partition: &[uuid("team_id"), int("month")],
    sort: &[uuid("entry_id")],
    about: "The same of earlier releases, by the month; only read.",
    ..LOG_TABLE
};

const AUDIT_BY_DAY: &Table = &Table {
    name: "audit_by_day",
    partition: &[uuid("team_id"), int("day")],
    sort: &[uuid("entry_id")],
    about: "Who changed what of a team's.",
    ..LOG_TABLE
};

const AUDIT_DAYS: &Table = &Table {
    name: "audit_days",
    partition: &[uuid("team_id")],
    sort: &[int("day")],
    storage: Storage::Log { window: Duration::from_hours(10 * 24), ttl: AuditDay::KEPT },
    about: "On which days something of a team's was changed.",
    ..LOG_TABLE
};

const ONBOARDING: &Table = &Table {
    name: "onboarding",
    partition: &[uuid("team_id")],
    sort: &[text("step")],
    owner: RowOwner::Team,
    about: "Which first steps a team has made.",
    ..Table::PLAIN
};

/// An entry of a team's audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// The team whose log it is in.
    pub team: TeamId,
    /// What it tells.
    pub entry: model::AuditEntry,
}

impl AuditRecord {
    /// How long an entry is kept.
    pub const KEPT: Duration = Duration::from_hours(400 * 24);

    /// The row of an entry, whose id says on which day it was made.
    #[must_use]
    pub fn row(team: TeamId, id: AuditEntryId) -> Key {
        let partition = partition(team, day_of(Time::of_uuid(id.0)));
        Key { table: AUDIT_BY_DAY, partition, sort: vec![Value::Uuid(id.0)] }
    }

    /// The newest entries of a day.
    #[must_use]
    pub fn of_day(team: TeamId, day: i64, limit: usize) -> Scan {
        Scan { partition: partition(team, day), ..team_scan(AUDIT_BY_DAY, team, limit) }
    }

    /// The parts of a team's log that an earlier release may have written to by `now`, the newest first.
    pub fn months(team: TeamId, now: Time, limit: usize) -> impl Iterator<Item = Scan> {
        // Processes' clocks may differ, so the newest may be of the month that is just to come.
        let newest = month(now.after(Duration::from_hours(1)));
        let oldest = month(now.before(Self::KEPT));
        (oldest..=newest).rev().map(move |month| Scan {
            partition: partition(team, month),
            ..team_scan(AUDIT, team, limit)
        })
    }
}

impl Record for AuditRecord {
    const TABLE: &'static Table = AUDIT_BY_DAY;
    fn key(&self) -> Key {
        Self::row(self.team, self.entry.id)
    }
}

/// A day on which something was changed: there before the day's first entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AuditDay {
    /// The team whose log has entries of it.
    pub team: TeamId,
    /// Days since 1970 in UTC.
    pub day: i64,
}

impl AuditDay {
    /// Not gone before the last entry of the day is.
    pub const KEPT: Duration = Duration::from_hours(402 * 24);
    /// The most of one team.
    pub const MOST: usize = 403;

    /// That of an entry.
    #[must_use]
    pub fn of_entry(entry: &AuditRecord) -> Self {
        Self { team: entry.team, day: day_of(Time::of_uuid(entry.entry.id.0)) }
    }

    /// The days of a team, newest first.
    #[must_use]
    pub fn of_team(team: TeamId) -> Scan {
        team_scan(AUDIT_DAYS, team, Self::MOST)
    }
}

impl Record for AuditDay {
    const TABLE: &'static Table = AUDIT_DAYS;
    fn key(&self) -> Key {
        let sort = vec![Value::Int(self.day)];
        Key { table: AUDIT_DAYS, partition: vec![Value::Uuid(self.team.0)], sort }
    }
}

fn partition(team: TeamId, bucket: i64) -> Vec<Value> {
    vec![Value::Uuid(team.0), Value::Int(bucket)]
}

/// Months of the calendar in UTC since the year 0.
fn month(at: Time) -> i64 {
    let date = Offset::UTC.to_datetime(at.into()).date();
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}

/// A first step that a team has made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstStep {
    /// The team.
    pub team: TeamId,
    /// A word for the step.
    pub step: String,
    /// When it was made, or found to have been.
    pub at: Time,
}

impl FirstStep {
    /// The row of a step.
    #[must_use]
    pub fn row(team: TeamId, step: &str) -> Key {
        let sort = vec![Value::Text(step.to_owned())];
        Key { table: ONBOARDING, partition: vec![Value::Uuid(team.0)], sort }
    }

    /// The steps that a team has made.
    #[must_use]
    pub fn of_team(team: TeamId) -> Scan {
        team_scan(ONBOARDING, team, 100)
    }
}

impl Record for FirstStep {
    const TABLE: &'static Table = ONBOARDING;
    fn key(&self) -> Key {
        Self::row(self.team, &self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_log_reach_over_400_days() {
        let team = TeamId(uuid::Uuid::nil());
        let now = Time::from_millis(1_800_000_000_000);
        let months: Vec<_> = AuditRecord::months(team, now, 1).map(|scan| scan.partition).collect();
        assert_eq!(months.len(), 14);
        assert_eq!(months[0][1], Value::Int(2027 * 12));
        for days in 0..400 {
            let at = now.before(Duration::from_hours(24 * days));
            assert!(months.contains(&partition(team, month(at))), "{days}");
        }
        let entry = uuid::Builder::from_unix_timestamp_millis(1_800_000_000_000, &[0; 10]);
        let row = AuditRecord::row(team, AuditEntryId(entry.into_uuid()));
        assert_eq!(row.partition, AuditRecord::of_day(team, day_of(now), 1).partition);
    }
}
