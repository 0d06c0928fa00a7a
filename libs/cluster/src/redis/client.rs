//! Commands: each with a deadline, over connections that many share.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use redis::{Cmd, ErrorKind, FromRedisValue, ServerErrorKind, Value, cmd};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use trapline_store::{Clock, PortError};

use super::{
    address::RedisAddress,
    meters::{RedisCall, RedisMeters},
    pool::{Pool, PoolError, PooledConnection},
};

/// The longest that a call takes.
const CALL_TIMEOUT: Duration = Duration::from_secs(2);

/// Connections in use at once. One carries about 100,000 small commands a second; a large value
/// holds up only those that share its connection.
const MAX_SHARED_CONNECTIONS: usize = 4;

/// How long a connection is shared until the pool checks it again. The check is a round trip: too
/// much for each command.
const RECHECK_INTERVAL: Duration = Duration::from_secs(1);

/// How long calls fail at once after no connection was to be had.
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// The way to Redis.
pub(super) struct Client {
    pool: Pool,
    slots: [Mutex<ConnectionSlot>; MAX_SHARED_CONNECTIONS],
    next: AtomicUsize,
    pub(super) namespace: String,
    pub(super) clock: Clock,
    pub(super) meters: RedisMeters,
}

/// A connection that many commands share, if there is one.
#[derive(Default)]
enum ConnectionSlot {
    #[default]
    Empty,
    Shared(Arc<SharedConnection>),
    Away {
        until: Instant,
    },
}

struct SharedConnection {
    connection: PooledConnection,
    until: Instant,
    broken: AtomicBool,
}

/// A script that the server keeps by its hash.
pub(super) struct Script {
    code: &'static str,
    hash: String,
}

/// Why a command has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error(transparent)]
    Redis(#[from] redis::RedisError),
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error("no connection a moment ago")]
    Away,
    #[error("no answer within {CALL_TIMEOUT:?}")]
    Deadline,
}

impl Client {
    pub(super) fn new(
        address: &RedisAddress,
        namespace: &str,
        clock: Clock,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self {
            pool: Pool::new(address)?,
            slots: Default::default(),
            next: AtomicUsize::new(0),
            namespace: namespace.to_owned(),
            clock,
            meters: RedisMeters::new(),
        })
    }

    pub(super) fn is_cluster(&self) -> bool {
        self.pool.is_cluster()
    }

    /// A key of ours.
    pub(super) fn key(&self, kind: &str, name: &str) -> String {
        format!("{}:{kind}:{name}", self.namespace)
    }

    /// Sends a command and reads its answer.
    pub(super) async fn query<T: FromRedisValue>(
        &self,
        operation: RedisCall,
        command: &Cmd,
    ) -> Result<T, CallError> {
        self.counted(operation, self.attempt(command)).await
    }

    /// Runs a script on one key.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        operation: RedisCall,
        script: &Script,
        key: &str,
        arguments: &[u64],
    ) -> Result<T, CallError> {
        let by = |verb: &str, script: &str| {
            let mut command = cmd(verb);
            command.arg(script).arg(1).arg(key).arg(arguments);
            command
        };
        let attempt = async {
            match self.attempt(&by("EVALSHA", &script.hash)).await {
                Err(CallError::Redis(error)) if unknown_script(&error) => {
                    self.attempt(&by("EVAL", script.code)).await
                }
                answer => answer,
            }
        };
        self.counted(operation, attempt).await
    }

    /// Asks any server for a sign of life.
    pub(super) async fn ping(&self) -> Result<(), CallError> {
        // A cluster would send PING to all of its servers; this needs the one that has the key.
        let mut command = cmd("EXISTS");
        command.arg(self.key("cache", "ping"));
        self.query::<u64>(RedisCall::Ping, &command).await.map(drop)
    }

    async fn counted<T: FromRedisValue>(
        &self,
        operation: RedisCall,
        attempt: impl Future<Output = Result<Value, CallError>>,
    ) -> Result<T, CallError> {
        self.meters.operation(operation);
        let answer = timeout(CALL_TIMEOUT, attempt).await.unwrap_or(Err(CallError::Deadline));
        let answer = answer.and_then(|value| {
            redis::from_redis_value(value).map_err(|error| CallError::Redis(error.into()))
        });
        answer.inspect_err(|_| self.meters.error())
    }

    async fn attempt(&self, command: &Cmd) -> Result<Value, CallError> {
        let shared = self.shared().await?;
        let answer = shared.connection.query(command).await;
        Ok(answer.inspect_err(|error| {
            if error.is_unrecoverable_error() || error.is_timeout() {
                shared.broken.store(true, Ordering::Relaxed);
            }
        })?)
    }

    async fn shared(&self) -> Result<Arc<SharedConnection>, CallError> {
        let slot = self.next.fetch_add(1, Ordering::Relaxed) % MAX_SHARED_CONNECTIONS;
        let mut slot = self.slots[slot].lock().await;
        let now = Instant::now();
        match &*slot {
            ConnectionSlot::Shared(shared) if shared.serves(now) => return Ok(Arc::clone(shared)),
            ConnectionSlot::Away { until } if now < *until => return Err(CallError::Away),
            _ => {}
        }
        // Goes back to the pool first, which may hand out the same one again.
        *slot = ConnectionSlot::Empty;
        match self.pool.get().await {
            Ok(connection) => {
                let until = Instant::now() + RECHECK_INTERVAL;
                let shared = Arc::new(SharedConnection {
                    connection,
                    until,
                    broken: AtomicBool::new(false),
                });
                *slot = ConnectionSlot::Shared(Arc::clone(&shared));
                Ok(shared)
            }
            Err(error) => {
                *slot = ConnectionSlot::Away { until: Instant::now() + RETRY_DELAY };
                Err(error.into())
            }
        }
    }
}

impl SharedConnection {
    fn serves(&self, now: Instant) -> bool {
        now < self.until && !self.broken.load(Ordering::Relaxed)
    }
}

impl Script {
    pub(super) fn new(code: &'static str) -> Self {
        Self { code, hash: redis::Script::new(code).get_hash().to_owned() }
    }
}

fn unknown_script(error: &redis::RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

impl From<CallError> for PortError {
    fn from(failure: CallError) -> Self {
        match &failure {
            CallError::Deadline | CallError::Pool(PoolError::Timeout(_)) => Self::Timeout,
            CallError::Redis(error) if error.is_timeout() => Self::Timeout,
            _ => Self::unavailable(failure),
        }
    }
}
