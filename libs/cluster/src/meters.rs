//! Counts of what is asked of the services, under names that all adapters share.
#![expect(clippy::disallowed_macros, reason = "the one place that names the adapters' metrics")]

use metrics::{Counter, counter};

/// Counts one kind of operation on a service. The handle is looked up once and kept.
pub(crate) fn operations(backend: &'static str, operation: &'static str) -> Counter {
    counter!("trapline_backend_operations_total", "backend" => backend, "operation" => operation)
}

/// Counts the operations on a service that failed.
pub(crate) fn errors(backend: &'static str) -> Counter {
    counter!("trapline_backend_errors_total", "backend" => backend)
}
