//! What is counted.

use metrics::Counter;

use crate::meters;

const BACKEND: &str = "cql";

/// Counters, looked up once.
pub(super) struct CqlMeters {
    reads: Counter,
    writes: Counter,
    conditional: Counter,
    errors: Counter,
}

/// A kind of request. A batch is one, and so is each page of a scan.
#[derive(Debug, Clone, Copy)]
pub(super) enum RequestKind {
    Read,
    Write,
    Conditional,
}

impl CqlMeters {
    pub(super) fn new() -> Self {
        let of = |operation| meters::operations(BACKEND, operation);
        let errors = meters::errors(BACKEND);
        Self { reads: of("read"), writes: of("write"), conditional: of("cas"), errors }
    }

    pub(super) fn operation(&self, operation: RequestKind) {
        match operation {
            RequestKind::Read => self.reads.increment(1),
            RequestKind::Write => self.writes.increment(1),
            RequestKind::Conditional => self.conditional.increment(1),
        }
    }

    pub(super) fn error(&self) {
        self.errors.increment(1);
    }
}
