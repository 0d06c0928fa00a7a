//! Counts of what is asked of the server.

use metrics::Counter;

/// One counter for each class of operation, and one of those that failed.
pub(super) struct Meters {
    /// A job is stored.
    pub(super) publish: Counter,
    /// Jobs are asked for.
    pub(super) pull: Counter,
    /// A lease is finished or extended.
    pub(super) ack: Counter,
    /// The stream's state is read.
    pub(super) read: Counter,
    /// A schedule is removed.
    pub(super) purge: Counter,
    /// Any of these failed.
    pub(super) errors: Counter,
}

impl Meters {
    #[expect(clippy::disallowed_macros, reason = "adapters know nothing of the application's list")]
    pub(super) fn new() -> Self {
        let operation = |operation: &'static str| {
            metrics::counter!(
                "trapline_backend_operations_total", "backend" => "nats", "operation" => operation
            )
        };
        Self {
            publish: operation("publish"),
            pull: operation("pull"),
            ack: operation("ack"),
            read: operation("read"),
            purge: operation("purge"),
            errors: metrics::counter!("trapline_backend_errors_total", "backend" => "nats"),
        }
    }
}
