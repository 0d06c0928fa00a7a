//! The backups that a process makes of itself.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, gauge};
use trapline_model::Time;

use super::outcome;

const LAST: &str = "trapline_last_backup_timestamp_seconds";
const INTERVAL: &str = "trapline_backup_interval_seconds";
const BACKUPS: &str = "trapline_backups_total";

pub(super) fn describe() {
    describe_gauge!(
        LAST,
        Unit::Seconds,
        "When the last whole backup was begun, since 1970; 0 where there is none."
    );
    describe_gauge!(INTERVAL, Unit::Seconds, "How far apart backups are to be.");
    describe_counter!(BACKUPS, "Backups that a process made of itself, by outcome: ok, failed.");
}

/// A backup was made, or failed.
pub fn backup_done(ok: bool) {
    counter!(BACKUPS, "outcome" => outcome(ok)).increment(1);
}

/// Says when the last whole backup was begun, if there is one.
pub fn last_backup(at: Option<Time>) {
    let millis = at.map_or(0, |at| at.millis().unsigned_abs());
    gauge!(LAST).set(Duration::from_millis(millis).as_secs_f64());
}

/// Says how far apart backups are to be.
pub fn backup_interval(every: Duration) {
    gauge!(INTERVAL).set(every.as_secs_f64());
}
