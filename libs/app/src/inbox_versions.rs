//! The version of each inbox, which every change moves, so that counts kept under an older one are not
//! used.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt as _, future::join_all, stream};
use tokio::{sync::Notify, time::timeout};
use tokio_util::sync::CancellationToken;
use trapline_model::InboxId;
use trapline_store::{Cache, PortError};

use crate::log_throttle::LogThrottle;

/// Inboxes whose version could not be moved yet. Beyond so many, counts may be old until they expire, which
/// is after a minute.
const PENDING_CAPACITY: usize = 100_000;
/// Between two passes over the pending versions.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Versions that are moved at once in a pass.
const MAX_CONCURRENT_BUMPS: usize = 64;
/// How long a mail that is stored waits for versions to move before it is answered all the same.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(50);

/// Moves versions; those that it could not move it moves as soon as the cache answers again.
pub(crate) struct InboxVersions {
    cache: Arc<dyn Cache>,
    /// Versions that are still to be moved, with how often each inbox changed since.
    pending: Mutex<HashMap<InboxId, u64>>,
    wake: Notify,
    bump_failed: LogThrottle,
    read_failed: LogThrottle,
}

/// A version that becomes pending unless it was moved: also if whoever moves it is cut off.
struct PendingBump<'a> {
    versions: &'a InboxVersions,
    inbox: InboxId,
    is_done: bool,
}

impl Drop for PendingBump<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.versions.add_pending(self.inbox);
        }
    }
}

impl InboxVersions {
    pub(crate) fn new(cache: Arc<dyn Cache>) -> Self {
        Self {
            cache,
            pending: Mutex::default(),
            wake: Notify::new(),
            bump_failed: LogThrottle::new(),
            read_failed: LogThrottle::new(),
        }
    }

    /// Moves the version of an inbox that changed.
    pub(crate) async fn changed(&self, inbox: InboxId) {
        let mut bump = PendingBump { versions: self, inbox, is_done: false };
        match self.cache.bump(&key(inbox)).await {
            Ok(_) => bump.is_done = true,
            Err(error) => {
                if let Some(left_out) = self.bump_failed.due() {
                    tracing::warn!(%error, left_out, "a version mark was not moved yet");
                }
            }
        }
    }

    /// Moves the versions of inboxes that changed, while somebody waits for an answer who needs none of
    /// them: returns after 50 ms at most, or at once while others are pending because the cache does not
    /// answer. What was not moved by then is moved later.
    pub(crate) async fn changed_soon(&self, inboxes: impl Iterator<Item = InboxId>) {
        if !self.pending().is_empty() {
            inboxes.for_each(|inbox| self.add_pending(inbox));
            return;
        }
        let moving = join_all(inboxes.map(|inbox| self.changed(inbox)));
        if timeout(ANSWER_TIMEOUT, moving).await.is_err()
            && let Some(left_out) = self.bump_failed.due()
        {
            tracing::warn!(left_out, "version marks were not moved in time");
        }
    }

    fn add_pending(&self, inbox: InboxId) {
        let mut pending = self.pending();
        if pending.len() < PENDING_CAPACITY || pending.contains_key(&inbox) {
            *pending.entry(inbox).or_default() += 1;
        }
        drop(pending);
        self.wake.notify_one();
    }

    /// The versions of many inboxes, in their order; `None` while the cache does not answer, or does not
    /// know of a change.
    pub(crate) async fn of_many(&self, inboxes: &[InboxId]) -> Vec<Option<u64>> {
        let keys: Vec<_> = inboxes.iter().copied().map(key).collect();
        // Read before the versions: one that is moved meanwhile is newer than what is counted.
        let known: Vec<_> = {
            let pending = self.pending();
            inboxes.iter().map(|inbox| !pending.contains_key(inbox)).collect()
        };
        match self.cache.versions(&keys).await {
            Ok(versions) => {
                let versions = versions.into_iter().zip(known);
                versions.map(|(version, is_known)| is_known.then_some(version)).collect()
            }
            Err(error) => {
                if let Some(left_out) = self.read_failed.due() {
                    tracing::warn!(%error, left_out, "counts are taken anew, without the cache");
                }
                vec![None; inboxes.len()]
            }
        }
    }

    /// Moves pending versions, until shutdown.
    pub(crate) async fn run(self: Arc<Self>, shutdown: CancellationToken) {
        let passes = async {
            loop {
                self.wake.notified().await;
                while !self.pass().await {
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        };
        shutdown.run_until_cancelled(passes).await;
    }

    /// Whether all that was pending is moved. Ends with the first version that is not.
    async fn pass(&self) -> bool {
        let pending: Vec<_> =
            self.pending().iter().map(|(inbox, changes)| (*inbox, *changes)).collect();
        let mut moved = stream::iter(pending)
            .map(|(inbox, changes)| async move {
                self.cache.bump(&key(inbox)).await?;
                // One that changed meanwhile stays pending.
                let mut pending = self.pending();
                if pending.get(&inbox) == Some(&changes) {
                    pending.remove(&inbox);
                }
                Ok::<_, PortError>(())
            })
            .buffer_unordered(MAX_CONCURRENT_BUMPS);
        while let Some(is_moved) = moved.next().await {
            if is_moved.is_err() {
                return false;
            }
        }
        self.pending().is_empty()
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<InboxId, u64>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(inbox: InboxId) -> String {
    format!("v:{inbox}")
}
