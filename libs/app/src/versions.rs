//! The mark that every change of an inbox moves, so that counts kept under an older one are not used.

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

use crate::repeated::Repeated;

/// Inboxes whose mark could not be moved; beyond so many, counts may be old until they expire, which
/// is after a minute.
const OWED_AT_MOST: usize = 100_000;
/// Between two passes over what is owed.
const PAUSE: Duration = Duration::from_secs(1);
/// Marks that are moved at once in a pass.
const AT_ONCE: usize = 64;
/// How long a mail that is stored waits for its marks before it is answered all the same.
const ANSWER_WITHIN: Duration = Duration::from_millis(50);

/// Moves marks, and what it could not move as soon as the cache answers again.
pub(crate) struct Versions {
    cache: Arc<dyn Cache>,
    /// With how often each changed since it is owed.
    owed: Mutex<HashMap<InboxId, u64>>,
    wake: Notify,
    not_moved: Repeated,
    not_read: Repeated,
}

/// A mark that is owed unless it was moved: also if whoever moves it is cut off.
struct Debt<'a> {
    versions: &'a Versions,
    inbox: InboxId,
    is_paid: bool,
}

impl Drop for Debt<'_> {
    fn drop(&mut self) {
        if !self.is_paid {
            self.versions.owe(self.inbox);
        }
    }
}

impl Versions {
    pub(crate) fn new(cache: Arc<dyn Cache>) -> Self {
        Self {
            cache,
            owed: Mutex::default(),
            wake: Notify::new(),
            not_moved: Repeated::new(),
            not_read: Repeated::new(),
        }
    }

    /// The inbox changed.
    pub(crate) async fn changed(&self, inbox: InboxId) {
        let mut debt = Debt { versions: self, inbox, is_paid: false };
        match self.cache.bump(&key(inbox)).await {
            Ok(_) => debt.is_paid = true,
            Err(error) => {
                if let Some(left_out) = self.not_moved.due() {
                    tracing::warn!(%error, left_out, "a version mark was not moved yet");
                }
            }
        }
    }

    /// These inboxes changed, and somebody waits for an answer who needs none of the marks: returns
    /// after 50 ms at most, or at once while a cache that does not answer is owed others. What was not
    /// moved by then is moved later.
    pub(crate) async fn changed_soon(&self, inboxes: impl Iterator<Item = InboxId>) {
        if !self.owed().is_empty() {
            inboxes.for_each(|inbox| self.owe(inbox));
            return;
        }
        let moving = join_all(inboxes.map(|inbox| self.changed(inbox)));
        if timeout(ANSWER_WITHIN, moving).await.is_err()
            && let Some(left_out) = self.not_moved.due()
        {
            tracing::warn!(left_out, "version marks were not moved in time");
        }
    }

    fn owe(&self, inbox: InboxId) {
        let mut owed = self.owed();
        if owed.len() < OWED_AT_MOST || owed.contains_key(&inbox) {
            *owed.entry(inbox).or_default() += 1;
        }
        drop(owed);
        self.wake.notify_one();
    }

    /// The marks of many inboxes, in their order; `None` while the cache does not answer, or does not
    /// know of a change.
    pub(crate) async fn of_many(&self, inboxes: &[InboxId]) -> Vec<Option<u64>> {
        let keys: Vec<_> = inboxes.iter().copied().map(key).collect();
        // Read before the marks: one that is moved meanwhile is newer than what is counted.
        let known: Vec<_> = {
            let owed = self.owed();
            inboxes.iter().map(|inbox| !owed.contains_key(inbox)).collect()
        };
        match self.cache.versions(&keys).await {
            Ok(versions) => {
                let marks = versions.into_iter().zip(known);
                marks.map(|(version, is_known)| is_known.then_some(version)).collect()
            }
            Err(error) => {
                if let Some(left_out) = self.not_read.due() {
                    tracing::warn!(%error, left_out, "counts are taken anew, without the cache");
                }
                vec![None; inboxes.len()]
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

    /// Whether all that was owed is moved. Ends with the first mark that is not.
    async fn pass(&self) -> bool {
        let owed: Vec<_> = self.owed().iter().map(|(inbox, changes)| (*inbox, *changes)).collect();
        let mut moved = stream::iter(owed)
            .map(|(inbox, changes)| async move {
                self.cache.bump(&key(inbox)).await?;
                // One that changed meanwhile stays owed.
                let mut owed = self.owed();
                if owed.get(&inbox) == Some(&changes) {
                    owed.remove(&inbox);
                }
                Ok::<_, PortError>(())
            })
            .buffer_unordered(AT_ONCE);
        while let Some(is_moved) = moved.next().await {
            if is_moved.is_err() {
                return false;
            }
        }
        self.owed().is_empty()
    }

    fn owed(&self) -> MutexGuard<'_, HashMap<InboxId, u64>> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(inbox: InboxId) -> String {
    format!("v:{inbox}")
}
