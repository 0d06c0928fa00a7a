//! Reads inboxes again after announcements may have been lost: once for each inbox, however many clients
//! follow it here.

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::watch;
use trapline_model::InboxId;
use trapline_store::{Scan, Store, Value, records::Message};
use uuid::Uuid;

use super::streams::Streams;
use crate::{Result, message_scans::message_keys};

/// The longest time over which the reads of all followed inboxes are spread.
const MAX_SPREAD: Duration = Duration::from_secs(5);
/// Reads that begin in a second, while all of them begin within [`MAX_SPREAD`].
const RESYNCS_PER_SECOND: f64 = 1_000.0;
/// Delay before a read is tried again that the store did not answer.
const STORE_RETRY_DELAY: Duration = Duration::from_secs(2);
/// Ids that one read returns at most.
const MAX_IDS: usize = 1_000;

/// The newest messages of an inbox, as a resync read them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NewestMessages {
    /// The ids, newest first.
    pub(crate) ids: Vec<Uuid>,
    /// Whether there are more than these after the floor.
    pub(crate) more: bool,
}

impl NewestMessages {
    /// The ids after `floor`; `None` when there may be more of them than were read.
    pub(crate) fn after(&self, floor: Uuid) -> Option<&[Uuid]> {
        let newer = self.ids.partition_point(|id| *id > floor);
        (!self.more || newer < self.ids.len()).then(|| &self.ids[..newer])
    }
}

/// Schedules the resyncs of a process: an inbox has at most one that has not begun, which all who ask for
/// it share.
pub(crate) struct ResyncScheduler {
    store: Arc<dyn Store>,
    streams: Arc<Streams>,
    planned: Mutex<HashMap<InboxId, PlannedResync>>,
    /// Whether the store did not answer the last read; its outage is logged once.
    failing: AtomicBool,
}

struct PlannedResync {
    floor: Uuid,
    found: watch::Sender<Option<Arc<NewestMessages>>>,
}

type PendingResync = watch::Receiver<Option<Arc<NewestMessages>>>;

impl ResyncScheduler {
    pub(crate) fn new(store: Arc<dyn Store>, streams: Arc<Streams>) -> Arc<Self> {
        Arc::new(Self {
            store,
            streams,
            planned: Mutex::default(),
            failing: AtomicBool::new(false),
        })
    }

    /// Schedules a read of the messages after `floor` that has not begun yet.
    fn plan(self: &Arc<Self>, inbox: InboxId, floor: Uuid) -> PendingResync {
        let mut planned = self.planned();
        if let Some(planned) = planned.get_mut(&inbox) {
            planned.floor = planned.floor.min(floor);
            return planned.found.subscribe();
        }
        let (found, resync) = watch::channel(None);
        planned.insert(inbox, PlannedResync { floor, found });
        tokio::spawn(self.clone().resync(inbox, jitter(self.streams.len())));
        resync
    }

    async fn resync(self: Arc<Self>, inbox: InboxId, delay: Duration) {
        tokio::time::sleep(delay).await;
        let _permit = self.streams.read_permit(inbox).await;
        let Some(PlannedResync { floor, found }) = self.planned().remove(&inbox) else { return };
        while !found.is_closed() {
            match self.read(inbox, floor).await {
                Ok(read) => {
                    self.failing.store(false, Ordering::Relaxed);
                    found.send_replace(Some(Arc::new(read)));
                    return;
                }
                Err(error) => {
                    if !self.failing.swap(true, Ordering::Relaxed) {
                        tracing::warn!(%error, "what was not announced could not be looked for yet");
                    }
                    tokio::time::sleep(STORE_RETRY_DELAY).await;
                }
            }
        }
    }

    async fn read(&self, inbox: InboxId, floor: Uuid) -> Result<NewestMessages> {
        let until = Some(vec![Value::Uuid(floor)]);
        let scan = Scan { until, ..message_keys(inbox, MAX_IDS + 1) };
        let rows = self.store.scan(scan).await?;
        let more = rows.len() > MAX_IDS;
        let ids = rows.iter().take(MAX_IDS).map(Message::id).filter(|id| *id > floor).collect();
        Ok(NewestMessages { ids, more })
    }

    fn planned(&self) -> MutexGuard<'_, HashMap<InboxId, PlannedResync>> {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Random delay of a resync: the more clients there are, the longer their resyncs are spread.
fn jitter(followers: usize) -> Duration {
    let followers = u32::try_from(followers).unwrap_or(u32::MAX);
    let spread = MAX_SPREAD.min(Duration::from_secs_f64(f64::from(followers) / RESYNCS_PER_SECOND));
    let random = getrandom::u32().unwrap_or_default();
    spread.mul_f64(f64::from(random) / f64::from(u32::MAX))
}

/// The resyncs that a follower of an inbox waits for: at most one that may have begun, and one for what it
/// missed since.
#[derive(Default)]
pub(crate) struct ResyncQueue(VecDeque<PendingResync>);

impl ResyncQueue {
    /// Asks for a resync; one that has not begun is shared.
    pub(crate) fn plan(&mut self, resyncs: &Arc<ResyncScheduler>, inbox: InboxId, floor: Uuid) {
        let resync = resyncs.plan(inbox, floor);
        if self.0.iter().any(|known| known.same_channel(&resync)) {
            return;
        }
        // What begins later finds what an earlier one would.
        self.0.truncate(1);
        self.0.push_back(resync);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The outcome of the next resync; `None` when it was given up. Waits for ever when none is scheduled.
    pub(crate) async fn found(&mut self) -> Option<Arc<NewestMessages>> {
        let Some(resync) = self.0.front_mut() else { return std::future::pending().await };
        let found = resync.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        self.0.pop_front();
        found
    }
}
