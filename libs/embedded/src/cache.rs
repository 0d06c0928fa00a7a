//! The cache: bounded by bytes, and by the given clock rather than the machine's.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use moka::sync::Cache as Moka;
use trapline_model::Time;
use trapline_store::{Cache, Clock, Result};

/// Bytes that an entry takes beside its key and value, about.
const ENTRY_OVERHEAD: usize = 200;

/// Values and version marks in memory.
pub(crate) struct MemoryCache {
    values: Moka<String, (Bytes, Time)>,
    marks: Moka<String, u64>,
    next: AtomicU64,
    clock: Clock,
}

impl MemoryCache {
    /// A cache of so many bytes, a quarter of which are for version marks.
    pub(crate) fn new(clock: Clock, bytes: u64) -> Self {
        let values = Moka::builder()
            .max_capacity(bytes / 4 * 3)
            .weigher(|key: &String, (value, _): &(Bytes, Time)| weight(key.len() + value.len()))
            .build();
        let marks = Moka::builder()
            .max_capacity(bytes / 4)
            .weigher(|key: &String, _: &u64| weight(key.len()))
            .build();
        Self { values, marks, next: AtomicU64::new(1), clock }
    }

    /// A number that no mark has had: numbers are handed out once, and marks end with the process.
    fn fresh(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

fn weight(bytes: usize) -> u32 {
    u32::try_from(bytes + ENTRY_OVERHEAD).unwrap_or(u32::MAX)
}

#[async_trait]
impl Cache for MemoryCache {
    async fn get_many(&self, keys: &[String]) -> Result<Vec<Option<Bytes>>> {
        let now = self.clock.now();
        let in_time = |(value, until)| (now < until).then_some(value);
        Ok(keys.iter().map(|key| self.values.get(key).and_then(in_time)).collect())
    }

    async fn put(&self, key: &str, value: Bytes, ttl: Duration) -> Result<()> {
        self.values.insert(key.to_owned(), (value, self.clock.now().after(ttl)));
        Ok(())
    }

    async fn bump(&self, key: &str) -> Result<u64> {
        let mark = self.fresh();
        self.marks.insert(key.to_owned(), mark);
        Ok(mark)
    }

    async fn versions(&self, keys: &[String]) -> Result<Vec<u64>> {
        let version = |key: &String| {
            let kept = self.marks.get(key);
            kept.unwrap_or_else(|| self.marks.get_with(key.clone(), || self.fresh()))
        };
        Ok(keys.iter().map(version).collect())
    }
}
