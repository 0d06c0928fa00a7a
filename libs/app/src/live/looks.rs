//! Looks into inboxes of which an announcement may have been lost: one for each inbox, whoever
//! follows it here.

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

/// The longest time over which looks are spread whose cause concerns all inboxes of a process.
const MAX_SPREAD: Duration = Duration::from_secs(5);
/// Looks that begin in a second, while that takes no longer than [`MAX_SPREAD`].
const LOOKS_PER_SECOND: f64 = 1_000.0;
/// When a look is tried again that the store did not answer.
const STORE_RETRY_DELAY: Duration = Duration::from_secs(2);
/// Ids that a look brings at most.
const MAX_IDS: usize = 1_000;

/// The newest messages of an inbox, as a look found them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The ids, newest first.
    pub(crate) ids: Vec<Uuid>,
    /// Whether there are more than these after the floor.
    pub(crate) more: bool,
}

impl Found {
    /// The ids after `floor`; `None` when not all of them are at hand.
    pub(crate) fn after(&self, floor: Uuid) -> Option<&[Uuid]> {
        let newer = self.ids.partition_point(|id| *id > floor);
        (!self.more || newer < self.ids.len()).then(|| &self.ids[..newer])
    }
}

/// The looks of a process that are planned: each inbox has one, which all who ask for it share.
pub(crate) struct Looks {
    store: Arc<dyn Store>,
    streams: Arc<Streams>,
    planned: Mutex<HashMap<InboxId, Planned>>,
    /// Whether the store did not answer the last look; its outage is logged once.
    failing: AtomicBool,
}

struct Planned {
    floor: Uuid,
    found: watch::Sender<Option<Arc<Found>>>,
}

type Look = watch::Receiver<Option<Arc<Found>>>;

impl Looks {
    pub(crate) fn new(store: Arc<dyn Store>, streams: Arc<Streams>) -> Arc<Self> {
        Arc::new(Self {
            store,
            streams,
            planned: Mutex::default(),
            failing: AtomicBool::new(false),
        })
    }

    /// A look for the messages after `floor` that begins from now on.
    fn plan(self: &Arc<Self>, inbox: InboxId, floor: Uuid) -> Look {
        let mut planned = self.planned();
        if let Some(planned) = planned.get_mut(&inbox) {
            planned.floor = planned.floor.min(floor);
            return planned.found.subscribe();
        }
        let (found, look) = watch::channel(None);
        planned.insert(inbox, Planned { floor, found });
        tokio::spawn(self.clone().look(inbox, jitter(self.streams.len())));
        look
    }

    async fn look(self: Arc<Self>, inbox: InboxId, delay: Duration) {
        tokio::time::sleep(delay).await;
        let _permit = self.streams.read_permit(inbox).await;
        let Some(Planned { floor, found }) = self.planned().remove(&inbox) else { return };
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

    async fn read(&self, inbox: InboxId, floor: Uuid) -> Result<Found> {
        let until = Some(vec![Value::Uuid(floor)]);
        let scan = Scan { until, ..message_keys(inbox, MAX_IDS + 1) };
        let rows = self.store.scan(scan).await?;
        let more = rows.len() > MAX_IDS;
        let ids = rows.iter().take(MAX_IDS).map(Message::id).filter(|id| *id > floor).collect();
        Ok(Found { ids, more })
    }

    fn planned(&self) -> MutexGuard<'_, HashMap<InboxId, Planned>> {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When a look begins: the more there are, the longer they are spread.
fn jitter(followers: usize) -> Duration {
    let followers = u32::try_from(followers).unwrap_or(u32::MAX);
    let spread = MAX_SPREAD.min(Duration::from_secs_f64(f64::from(followers) / LOOKS_PER_SECOND));
    let random = getrandom::u32().unwrap_or_default();
    spread.mul_f64(f64::from(random) / f64::from(u32::MAX))
}

/// The looks that a follower of an inbox waits for: one that has begun perhaps, and one for what
/// it may have missed since.
#[derive(Default)]
pub(crate) struct Awaited(VecDeque<Look>);

impl Awaited {
    /// One more reason to look.
    pub(crate) fn plan(&mut self, looks: &Arc<Looks>, inbox: InboxId, floor: Uuid) {
        let look = looks.plan(inbox, floor);
        if self.0.iter().any(|known| known.same_channel(&look)) {
            return;
        }
        // What begins later finds what an earlier one would.
        self.0.truncate(1);
        self.0.push_back(look);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the next look found; `None` when nobody looks any more. Never, when none is planned.
    pub(crate) async fn found(&mut self) -> Option<Arc<Found>> {
        let Some(look) = self.0.front_mut() else { return std::future::pending().await };
        let found = look.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        self.0.pop_front();
        found
    }
}
