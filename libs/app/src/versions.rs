//! The mark that every change of an inbox moves, so that counts kept under an older one are not used.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use trapline_model::InboxId;
use trapline_store::Cache;

/// Inboxes whose mark could not be moved; beyond so many, counts may be old until they expire.
const OWED_AT_MOST: usize = 100_000;
const PAUSE: Duration = Duration::from_secs(1);

/// Moves marks, and what it could not move as soon as the cache answers again.
pub(crate) struct Versions {
    cache: Arc<dyn Cache>,
    owed: Mutex<HashSet<InboxId>>,
    wake: Notify,
}

impl Versions {
    pub(crate) fn new(cache: Arc<dyn Cache>) -> Self {
        Self { cache, owed: Mutex::default(), wake: Notify::new() }
    }

    /// The inbox changed.
    pub(crate) async fn changed(&self, inbox: InboxId) {
        if let Err(error) = self.cache.bump(&key(inbox)).await {
            tracing::warn!(%error, "a version mark was not moved yet");
            let mut owed = self.owed();
            if owed.len() < OWED_AT_MOST {
                owed.insert(inbox);
            }
            drop(owed);
            self.wake.notify_one();
        }
    }

    /// The marks of many inboxes; `None` while the cache does not answer.
    pub(crate) async fn of_many(&self, inboxes: impl Iterator<Item = InboxId>) -> Option<Vec<u64>> {
        let keys: Vec<_> = inboxes.map(key).collect();
        match self.cache.versions(&keys).await {
            Ok(versions) => Some(versions),
            Err(error) => {
                tracing::warn!(%error, "counts are taken anew, without the cache");
                None
            }
        }
    }

    /// Moves what is owed, until shutdown.
    pub(crate) async fn run(self: Arc<Self>, shutdown: CancellationToken) {
        let passes = async {
            loop {
                self.wake.notified().await;
                while !self.pass().await {
                    tokio::time::sleep(PAUSE).await;
                }
            }
        };
        shutdown.run_until_cancelled(passes).await;
    }

    /// Whether nothing is owed any more.
    async fn pass(&self) -> bool {
        let owed: Vec<_> = self.owed().iter().copied().collect();
        for inbox in owed {
            if self.cache.bump(&key(inbox)).await.is_err() {
                return false;
            }
            self.owed().remove(&inbox);
        }
        true
    }

    fn owed(&self) -> MutexGuard<'_, HashSet<InboxId>> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(inbox: InboxId) -> String {
    format!("v:{inbox}")
}
