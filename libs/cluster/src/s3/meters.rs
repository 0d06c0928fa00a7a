//! Counts of what is asked of the object store.
#![expect(clippy::disallowed_macros, reason = "the one place that names this adapter's metrics")]

use metrics::{Counter, counter};

/// One counter for each kind of operation, and one for those that failed. What is simply not there
/// is no failure.
pub(super) struct Meters {
    pub(super) put: Counter,
    pub(super) get: Counter,
    pub(super) delete: Counter,
    pub(super) errors: Counter,
}

impl Meters {
    pub(super) fn new() -> Self {
        let operation = |name: &'static str| counter!("trapline_backend_operations_total", "backend" => "s3", "operation" => name);
        Self {
            put: operation("put"),
            get: operation("get"),
            delete: operation("delete"),
            errors: counter!("trapline_backend_errors_total", "backend" => "s3"),
        }
    }
}
