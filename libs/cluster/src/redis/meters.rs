//! Metrics of the calls to Redis.

use metrics::Counter;

use crate::meters;

const BACKEND: &str = "redis";

/// What is asked of Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedisCall {
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

/// Names, in the order of [`RedisCall`].
pub(super) const CALLS: [(RedisCall, &str); 9] = [
    (RedisCall::Publish, "publish"),
    (RedisCall::Subscribe, "subscribe"),
    (RedisCall::Unsubscribe, "unsubscribe"),
    (RedisCall::Limit, "limit"),
    (RedisCall::Get, "get"),
    (RedisCall::Put, "put"),
    (RedisCall::Bump, "bump"),
    (RedisCall::Version, "version"),
    (RedisCall::Ping, "ping"),
];

/// The counters' handles, looked up once.
pub(super) struct RedisMeters {
    operations: [Counter; CALLS.len()],
    errors: Counter,
}

impl RedisMeters {
    pub(super) fn new() -> Self {
        let operations = CALLS.map(|(_, name)| meters::operations(BACKEND, name));
        let errors = meters::errors(BACKEND);
        Self { operations, errors }
    }

    pub(super) fn operation(&self, operation: RedisCall) {
        self.operations[operation as usize].increment(1);
    }

    pub(super) fn error(&self) {
        self.errors.increment(1);
    }
}
