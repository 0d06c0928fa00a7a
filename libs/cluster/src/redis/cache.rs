//! Short-lived values and version marks.
//!
//! Marks are the server's time in microseconds: what Redis forgets in a restart, a flush or an
//! eviction starts at a later time again. A clock that is set back by hand, and a loss within the
//! time it went back, could repeat one.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use redis::cmd;
use trapline_store::{Cache, PortError, Result};

use super::{
    client::{Client, Script},
    meters::Operation,
};

/// Bytes of the largest value.
const LARGEST: usize = 1 << 20;

/// The longest life of a value: the server refuses much longer ones.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// How long a mark stays after its last change. Later it reads as a number that it never had, which
/// costs its readers no more than if it had changed.
const MARK: Duration = Duration::from_hours(24);

/// Values and marks in Redis.
pub(super) struct RedisCache {
    client: Arc<Client>,
    bump: Script,
    version: Script,
}

impl RedisCache {
    pub(super) fn new(client: Arc<Client>) -> Self {
        let bump = Script::new(include_str!("scripts/bump.lua"));
        let version = Script::new(include_str!("scripts/version.lua"));
        Self { client, bump, version }
    }

    async fn mark(&self, operation: Operation, script: &Script, key: &str) -> Result<u64> {
        let key = self.client.key("mark", key);
        Ok(self.client.run(operation, script, &key, &[self.life(MARK)]).await?)
    }

    /// Milliseconds on the server's clock; it takes no zero.
    fn life(&self, time: Duration) -> u64 {
        let life = self.client.clock.real(time.min(LONGEST)).as_millis().max(1);
        u64::try_from(life).unwrap_or(u64::MAX)
    }
}

#[async_trait]
impl Cache for RedisCache {
    async fn get(&self, key: &str) -> Result<Option<Bytes>> {
        let mut command = cmd("GET");
        command.arg(self.client.key("cache", key));
        Ok(self.client.query(Operation::Get, &command).await?)
    }

    async fn put(&self, key: &str, value: Bytes, ttl: Duration) -> Result<()> {
        if value.len() > LARGEST {
            return Err(PortError::Misuse("a cached value has at most 1 MiB"));
        }
        let mut command = cmd("SET");
        command.arg(self.client.key("cache", key)).arg(&value[..]).arg("PX").arg(self.life(ttl));
        Ok(self.client.query(Operation::Put, &command).await?)
    }

    async fn forget(&self, key: &str) -> Result<()> {
        let mut command = cmd("DEL");
        command.arg(self.client.key("cache", key));
        Ok(self.client.query(Operation::Forget, &command).await?)
    }

    async fn bump(&self, key: &str) -> Result<u64> {
        self.mark(Operation::Bump, &self.bump, key).await
    }

    async fn version(&self, key: &str) -> Result<u64> {
        self.mark(Operation::Version, &self.version, key).await
    }
}
