//! Short-lived values, which may be gone at any time.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::Result;

/// A bounded cache.
#[async_trait]
pub trait Cache: Send + Sync {
    /// What was put, unless its time is over or it had to give way.
    async fn get(&self, key: &str) -> Result<Option<Bytes>>;
    /// Keeps a value for at most `ttl`.
    async fn put(&self, key: &str, value: Bytes, ttl: Duration) -> Result<()>;
    /// Changes a version mark to a value that it never had before, and returns it. A mark that
    /// was never changed, or was evicted, reads as a value of its own.
    async fn bump(&self, key: &str) -> Result<u64>;
    /// Reads a version mark.
    async fn version(&self, key: &str) -> Result<u64>;
    /// What was put under each of many keys, in their order.
    async fn get_many(&self, keys: &[String]) -> Result<Vec<Option<Bytes>>> {
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            values.push(self.get(key).await?);
        }
        Ok(values)
    }
    /// Reads many version marks, in the order of their keys.
    async fn versions(&self, keys: &[String]) -> Result<Vec<u64>> {
        let mut versions = Vec::with_capacity(keys.len());
        for key in keys {
            versions.push(self.version(key).await?);
        }
        Ok(versions)
    }
}
