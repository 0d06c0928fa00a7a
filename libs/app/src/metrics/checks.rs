//! Checks of messages.

use std::time::Duration;

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

const CHECKS: &str = "trapline_checks_total";
const ENGINE_UP: &str = "trapline_spam_engine_up";
const SECONDS: &str = "trapline_check_seconds";

pub(super) fn describe() {
    describe_counter!(CHECKS, "Checks of messages by check and outcome.");
    describe_gauge!(ENGINE_UP, "Whether a spam engine answered when it was asked last, by engine.");
    describe_histogram!(SECONDS, Unit::Seconds, "Checks of messages by check.");
}

/// A message was checked, its report was in memory, or neither.
pub(crate) fn check_done(check: &'static str, outcome: &'static str, took: Duration) {
    counter!(CHECKS, "check" => check, "outcome" => outcome).increment(1);
    histogram!(SECONDS, "check" => check).record(took.as_secs_f64());
}

/// A spam engine was asked.
pub(crate) fn spam_engine_up(engine: &'static str, is_up: bool) {
    gauge!(ENGINE_UP, "engine" => engine).set(if is_up { 1.0 } else { 0.0 });
}
