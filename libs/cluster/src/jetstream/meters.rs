//! Counts of what is asked of the server.

use metrics::Counter;

use crate::meters;

const BACKEND: &str = "nats";

/// One counter for each class of operation, and one of those that failed.
pub(super) struct NatsMeters {
    /// A job is stored.
    pub(super) publish: Counter,
    /// Jobs are asked for.
    pub(super) pull: Counter,
    /// A lease is finished or extended.
    pub(super) ack: Counter,
    /// The stream's state is read.
    pub(super) read: Counter,
    /// Any of these failed.
    pub(super) errors: Counter,
}

impl NatsMeters {
    pub(super) fn new() -> Self {
        let operation = |operation| meters::operations(BACKEND, operation);
        Self {
            publish: operation("publish"),
            pull: operation("pull"),
            ack: operation("ack"),
            read: operation("read"),
            errors: meters::errors(BACKEND),
        }
    }
}
