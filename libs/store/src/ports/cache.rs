//! Short-lived values, which may be gone at any time.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::Result;

/// A bounded cache.
#[async_trait]
pub trait Cache: Send + Sync {
    /// What was put under each of the keys, in their order, unless its time is over or it had to give
    /// way.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn get_many(&self, keys: &[String]) -> Result<Vec<Option<Bytes>>>;
    /// Keeps a value for at most `ttl`.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn put(&self, key: &str, value: Bytes, ttl: Duration) -> Result<()>;
    /// Changes a version mark to a value that it never had before, and returns it.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn bump(&self, key: &str) -> Result<u64>;
    /// Reads version marks, in the order of their keys. One that was never changed, or was evicted,
    /// reads as a value of its own.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn versions(&self, keys: &[String]) -> Result<Vec<u64>>;
}
