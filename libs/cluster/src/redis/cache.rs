//! Short-lived values and version marks.
//!
//! Marks are the server's time in microseconds: what Redis forgets in a restart, a flush or an
//! eviction starts at a later time again. A clock that is set back by hand, and a loss within the
//! time it went back, could repeat one.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use redis::{FromRedisValue, cmd};
use trapline_store::{Cache, PortError, Result};

use super::{
    client::{Client, Script},
    meters::RedisCall,
};

/// Keys that one command reads.
const KEYS_PER_COMMAND: usize = 500;
/// Commands of one reader under way at a time.
const MAX_CONCURRENT_READS: usize = 4;
/// Marks of one reader that are made at a time.
const MAX_CONCURRENT_MARKS: usize = 64;

/// Bytes of the largest value.
const MAX_VALUE_BYTES: usize = 1 << 20;

/// The longest life of a value: the server refuses much longer ones.
const MAX_TTL: Duration = Duration::from_hours(365 * 24);

/// How long a mark stays after its last change. Later it reads as a number that it never had, which
/// costs its readers no more than if it had changed.
const MARK_TTL: Duration = Duration::from_hours(24);

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

    async fn mark(&self, operation: RedisCall, script: &Script, key: &str) -> Result<u64> {
        let key = self.client.key("mark", key);
        Ok(self.client.run(operation, script, &key, &[self.ttl(MARK_TTL)]).await?)
    }

    /// Reads many keys, so many in one trip. A Redis Cluster takes those of one slot together.
    async fn read_many<T>(
        &self,
        operation: RedisCall,
        kind: &str,
        keys: &[String],
    ) -> Result<Vec<T>>
    where
        T: FromRedisValue + Send,
    {
        let parts = keys.chunks(KEYS_PER_COMMAND).map(async |keys| {
            let mut command = cmd("MGET");
            for key in keys {
                command.arg(self.client.key(kind, key));
            }
            Ok::<Vec<T>, PortError>(self.client.query(operation, &command).await?)
        });
        let parts: Vec<_> = parts.collect();
        let parts: Vec<_> =
            stream::iter(parts).buffered(MAX_CONCURRENT_READS).try_collect().await?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Milliseconds on the server's clock; it takes no zero.
    fn ttl(&self, time: Duration) -> u64 {
        let ttl = self.client.clock.real(time.min(MAX_TTL)).as_millis().max(1);
        u64::try_from(ttl).unwrap_or(u64::MAX)
    }
}

#[async_trait]
impl Cache for RedisCache {
    async fn put(&self, key: &str, value: Bytes, ttl: Duration) -> Result<()> {
        if value.len() > MAX_VALUE_BYTES {
            return Err(PortError::Misuse("a cached value has at most 1 MiB"));
        }
        let mut command = cmd("SET");
        command.arg(self.client.key("cache", key)).arg(&value[..]).arg("PX").arg(self.ttl(ttl));
        Ok(self.client.query(RedisCall::Put, &command).await?)
    }

    async fn bump(&self, key: &str) -> Result<u64> {
        self.mark(RedisCall::Bump, &self.bump, key).await
    }

    async fn get_many(&self, keys: &[String]) -> Result<Vec<Option<Bytes>>> {
        self.read_many(RedisCall::Get, "cache", keys).await
    }

    async fn versions(&self, keys: &[String]) -> Result<Vec<u64>> {
        let kept: Vec<Option<u64>> = self.read_many(RedisCall::Version, "mark", keys).await?;
        let versions = keys.iter().zip(kept).map(async |(key, kept)| match kept {
            Some(version) => Ok(version),
            None => self.mark(RedisCall::Version, &self.version, key).await,
        });
        let versions: Vec<_> = versions.collect();
        stream::iter(versions).buffered(MAX_CONCURRENT_MARKS).try_collect().await
    }
}
