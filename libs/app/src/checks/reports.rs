//! Reports of checks in memory: the same message has the same report each time.

use std::{any::Any, sync::Arc};

use moka::sync::Cache;
use serde::Serialize;
use trapline_model::MessageId;

use crate::{Result, keyed_locks::KeyedLocks};

/// Bytes of reports, as JSON has them, that a process keeps.
const CAPACITY: u64 = 16 << 20;

/// A check of a message: which one, and with what parameters.
type CheckKey = (MessageId, String);

#[derive(Clone)]
struct KeptReport {
    report: Arc<dyn Any + Send + Sync>,
    bytes: u32,
}

/// The reports that were asked for last.
pub(super) struct ReportCache {
    kept: Cache<CheckKey, KeptReport>,
    locks: KeyedLocks,
}

impl ReportCache {
    pub(super) fn new() -> Self {
        let kept = Cache::builder()
            .max_capacity(CAPACITY)
            .weigher(|_: &CheckKey, kept: &KeptReport| kept.bytes)
            .build();
        Self { kept, locks: KeyedLocks::new() }
    }

    /// The report of `check` on a message, and whether it was there; else `compute` makes it. Of those who
    /// ask for the same at once, one computes.
    ///
    /// # Errors
    ///
    /// Those of `compute`.
    pub(super) async fn get<T: Serialize + Send + Sync + 'static>(
        &self,
        id: MessageId,
        check: String,
        compute: impl Future<Output = Result<T>>,
    ) -> Result<(Arc<T>, bool)> {
        let key = (id, check);
        if let Some(report) = self.known(&key) {
            return Ok((report, true));
        }
        let _alone = self.locks.lock(id.uuid).await;
        if let Some(report) = self.known(&key) {
            return Ok((report, true));
        }
        let report = Arc::new(compute.await?);
        let json = serde_json::to_vec(&*report).map_or(usize::MAX, |json| json.len());
        let bytes = u32::try_from(json).unwrap_or(u32::MAX);
        self.kept.insert(key, KeptReport { report: report.clone(), bytes });
        Ok((report, false))
    }

    fn known<T: Send + Sync + 'static>(&self, key: &CheckKey) -> Option<Arc<T>> {
        self.kept.get(key)?.report.downcast().ok()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;
    use trapline_model::InboxId;
    use uuid::Uuid;

    use super::*;

    fn message() -> MessageId {
        MessageId { inbox: InboxId(Uuid::from_u128(1)), uuid: Uuid::from_u128(2) }
    }

    #[tokio::test]
    async fn what_many_ask_for_at_once_is_computed_once() {
        let (cache, computed) = (ReportCache::new(), AtomicUsize::new(0));
        let ask = || {
            cache.get(message(), "a".to_owned(), async {
                tokio::task::yield_now().await;
                Ok(computed.fetch_add(1, Ordering::SeqCst))
            })
        };
        for answer in join_all((0..10).map(|_| ask())).await {
            assert_eq!(*answer.unwrap().0, 0);
        }
        assert_eq!(computed.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn each_check_has_a_report_of_its_own_and_large_ones_are_not_kept() {
        let cache = ReportCache::new();
        let ask = |check: &str, size: usize| {
            cache.get(message(), check.to_owned(), async move { Ok("x".repeat(size)) })
        };
        assert_eq!(ask("a", 1).await.unwrap(), ("x".to_owned().into(), false));
        assert_eq!(ask("b", 2).await.unwrap(), ("xx".to_owned().into(), false));
        assert_eq!(ask("a", 3).await.unwrap(), ("x".to_owned().into(), true));
        ask("c", 17 << 20).await.unwrap();
        cache.kept.run_pending_tasks();
        assert!(cache.kept.weighted_size() <= CAPACITY);
    }

    #[tokio::test]
    async fn what_failed_is_computed_again() {
        let cache = ReportCache::new();
        let failed = cache
            .get(message(), "a".to_owned(), async { Err::<String, _>(crate::Error::Unavailable) });
        assert!(failed.await.is_err());
        let made = cache.get(message(), "a".to_owned(), async { Ok("x".to_owned()) });
        assert!(!made.await.unwrap().1);
    }
}
