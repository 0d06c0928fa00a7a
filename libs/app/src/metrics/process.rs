//! What every Prometheus client says of its process, under the names that all of them share.

use metrics::{Unit, counter, describe_counter, describe_gauge, gauge};
use trapline_model::Time;

use super::number;

const OPEN: &str = "process_open_fds";
const MOST: &str = "process_max_fds";
const MEMORY: &str = "process_resident_memory_bytes";
const CPU: &str = "process_cpu_seconds_total";
const START: &str = "process_start_time_seconds";
const CERTIFICATE: &str = "trapline_tls_certificate_expiry_timestamp_seconds";

pub(super) fn describe() {
    describe_gauge!(OPEN, "Files and connections that are open.");
    describe_gauge!(MOST, "Files and connections that may be open.");
    describe_gauge!(MEMORY, Unit::Bytes, "Resident memory.");
    describe_counter!(CPU, Unit::Seconds, "Processor time of all threads, in whole seconds.");
    describe_gauge!(START, Unit::Seconds, "When the process started, since 1970.");
    describe_gauge!(
        CERTIFICATE,
        Unit::Seconds,
        "When the certificate ends that clients are shown, since 1970."
    );
}

/// What a process takes of its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessUse {
    /// Files and connections.
    pub open_files: u64,
    /// The most of these.
    pub max_files: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Seconds of processor time.
    pub cpu: u64,
}

/// Says what this process takes of its machine.
pub fn process(measured: ProcessUse) {
    gauge!(OPEN).set(number(measured.open_files));
    gauge!(MOST).set(number(measured.max_files));
    gauge!(MEMORY).set(number(measured.memory));
    counter!(CPU).absolute(measured.cpu);
}

/// Says when this process started.
pub fn process_started(at: Time) {
    gauge!(START).set(seconds(at));
}

/// Says when the certificate ends that clients are shown.
pub fn set_certificate_expiry(at: Time) {
    gauge!(CERTIFICATE).set(seconds(at));
}

#[expect(clippy::cast_precision_loss, reason = "precise for thousands of years")]
fn seconds(at: Time) -> f64 {
    at.millis() as f64 / 1000.0
}
