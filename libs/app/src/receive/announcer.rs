//! Announces stored messages, beside the receiving path.

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

use crate::announce::announce;

/// Events that wait for the bus at once, each of a few kilobytes at most. Listeners of what is beyond
/// are told of a gap instead, and read the store.
const QUEUE_CAPACITY: usize = 1024;

/// Publishes events, of which only so many wait.
pub(super) struct Announcer {
    bus: Arc<dyn Bus>,
    waiting: AtomicUsize,
}

impl Announcer {
    pub(super) fn new(bus: Arc<dyn Bus>) -> Self {
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
        if self.waiting.fetch_add(count, Ordering::Relaxed) < QUEUE_CAPACITY {
            for event in events {
                announce(&*self.bus, inbox, event).await;
            }
        } else {
            self.bus.left_out(inbox);
        }
        self.waiting.fetch_sub(count, Ordering::Relaxed);
    }
}
