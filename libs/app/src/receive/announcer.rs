//! Tells who listens of stored messages, beside the receiving path.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::future::join_all;
use trapline_model::InboxId;
use trapline_store::{Bus, LiveEvent};

use crate::repeated::Repeated;

/// Events that wait for the bus at once, each of a few kilobytes at most. Listeners of what is beyond
/// are told of a gap instead, and read the store.
const MOST: usize = 1024;

pub(crate) struct Announcer {
    bus: Arc<dyn Bus>,
    waiting: AtomicUsize,
}

/// Tells who listens to an inbox; whoever misses it reads the store again.
pub(crate) async fn tell(bus: &dyn Bus, inbox: InboxId, event: LiveEvent) {
    static LINE: Repeated = Repeated::new();
    if let Err(error) = bus.publish(inbox, event).await
        && let Some(left_out) = LINE.due()
    {
        tracing::warn!(%error, left_out, "a live event was not sent");
    }
}

impl Announcer {
    pub(crate) fn new(bus: Arc<dyn Bus>) -> Self {
        Self { bus, waiting: AtomicUsize::new(0) }
    }

    /// Publishes the events: those of an inbox in their order, those of others at the same time.
    pub(super) async fn announce(&self, events: Vec<(InboxId, LiveEvent)>) {
        let mut inboxes: BTreeMap<InboxId, Vec<LiveEvent>> = BTreeMap::new();
        for (inbox, event) in events {
            inboxes.entry(inbox).or_default().push(event);
        }
        join_all(inboxes.into_iter().map(|(inbox, events)| self.publish(inbox, events))).await;
    }

    async fn publish(&self, inbox: InboxId, events: Vec<LiveEvent>) {
        let count = events.len();
        if self.waiting.fetch_add(count, Ordering::Relaxed) < MOST {
            for event in events {
                tell(&*self.bus, inbox, event).await;
            }
        } else {
            self.bus.left_out(inbox);
        }
        self.waiting.fetch_sub(count, Ordering::Relaxed);
    }
}
