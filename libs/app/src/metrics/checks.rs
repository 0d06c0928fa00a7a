//! Checks of messages.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};

const CHECKS: &str = "trapline_checks_total";
const SECONDS: &str = "trapline_check_seconds";

pub(super) fn describe() {
    describe_counter!(CHECKS, "Checks of messages by check and outcome.");
    describe_histogram!(SECONDS, Unit::Seconds, "Checks of messages by check.");
}

/// A message was checked, its report was in memory, or neither.
pub(crate) fn check_done(check: &'static str, outcome: &'static str, took: Duration) {
    counter!(CHECKS, "check" => check, "outcome" => outcome).increment(1);
    histogram!(SECONDS, "check" => check).record(took.as_secs_f64());
}
