//! What teams use in a month: a counter that only grows, of which each process has a row of its own. A
//! process overwrites its row with its own running total, so a write that is repeated counts nothing
//! twice; a team's use is the sum of its rows.

use std::time::Duration;

use jiff::tz::Offset;
use serde::{Deserialize, Serialize};
use trapline_model::{TeamId, Time};

use super::{int, text, uuid};
use crate::{Key, Record, RowOwner, Scan, Table, Value};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[USAGE];

/// How long the counts of a month are kept.
const KEPT_FOR: Duration = Duration::from_hours(400 * 24);

const USAGE: &Table = &Table {
    name: "usage",
    partition: &[uuid("team_id"), int("month")],
    sort: &[text("process")],
    owner: RowOwner::Team,
    about: "How many messages each process stored for a team in a month; kept for 400 days.",
    ..Table::PLAIN
};

/// What one process counted for a team in a month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The team.
    pub team: TeamId,
    /// The month (UTC): the year times 100, and the number of the month.
    pub month: i64,
    /// The process. No two that run at the same time have the same name.
    pub process: String,
    /// All messages that it stored for the team in the month.
    pub messages: u64,
}

impl Usage {
    /// How long a row is kept after it was written.
    pub const TTL: Duration = KEPT_FOR;

    /// The process's row.
    #[must_use]
    pub fn row(team: TeamId, month: i64, process: &str) -> Key {
        let sort = vec![Value::Text(process.to_owned())];
        Key { table: USAGE, partition: partition(team, month), sort }
    }

    /// The months of which a team may have rows at `now`.
    pub fn of_team(team: TeamId, now: Time) -> impl Iterator<Item = Scan> {
        let month = |at: Time| {
            let date = Offset::UTC.to_datetime(at.into()).date();
            i64::from(date.year()) * 12 + i64::from(date.month()) - 1
        };
        // Processes' clocks may differ, so one may count for the month that is just to come.
        let months = month(now.before(Self::TTL))..=month(now.after(Duration::from_hours(1)));
        let number = |month: i64| month.div_euclid(12) * 100 + month.rem_euclid(12) + 1;
        months.map(move |month| Self::of_month(team, number(month), 1_000))
    }

    /// The rows of the processes of a team and month, at most `limit`.
    #[must_use]
    pub fn of_month(team: TeamId, month: i64, limit: usize) -> Scan {
        Scan::of(USAGE, partition(team, month), limit)
    }
}

fn partition(team: TeamId, month: i64) -> Vec<Value> {
    vec![Value::Uuid(team.0), Value::Int(month)]
}

impl Record for Usage {
    const TABLE: &'static Table = USAGE;
    fn key(&self) -> Key {
        Self::row(self.team, self.month, &self.process)
    }
}
