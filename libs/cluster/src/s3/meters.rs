//! Counts of what is asked of the object store.

use metrics::Counter;

use crate::meters;

const BACKEND: &str = "s3";

/// One counter for each kind of operation, and one for those that failed. What is simply not there
/// is no failure.
pub(super) struct S3Meters {
    pub(super) put: Counter,
    pub(super) get: Counter,
    pub(super) delete: Counter,
    pub(super) errors: Counter,
}

impl S3Meters {
    pub(super) fn new() -> Self {
        let operation = |operation| meters::operations(BACKEND, operation);
        Self {
            put: operation("put"),
            get: operation("get"),
            delete: operation("delete"),
            errors: meters::errors(BACKEND),
        }
    }
}
