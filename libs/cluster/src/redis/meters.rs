//! Metrics of the calls to Redis.

use metrics::Counter;

use crate::meters;

const BACKEND: &str = "redis";

/// What is asked of Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Publish,
    Subscribe,
    Unsubscribe,
    Limit,
    Get,
    Put,
    Bump,
    Version,
    Ping,
}

/// Names, in the order of [`Operation`].
pub(super) const OPERATIONS: [(Operation, &str); 9] = [
    (Operation::Publish, "publish"),
    (Operation::Subscribe, "subscribe"),
    (Operation::Unsubscribe, "unsubscribe"),
    (Operation::Limit, "limit"),
    (Operation::Get, "get"),
    (Operation::Put, "put"),
    (Operation::Bump, "bump"),
    (Operation::Version, "version"),
    (Operation::Ping, "ping"),
];

/// The counters' handles, looked up once.
pub(super) struct Meters {
    operations: [Counter; OPERATIONS.len()],
    errors: Counter,
}

impl Meters {
    pub(super) fn new() -> Self {
        let operations = OPERATIONS.map(|(_, name)| meters::operations(BACKEND, name));
        let errors = meters::errors(BACKEND);
        Self { operations, errors }
    }

    pub(super) fn operation(&self, operation: Operation) {
        self.operations[operation as usize].increment(1);
    }

    pub(super) fn error(&self) {
        self.errors.increment(1);
    }
}
