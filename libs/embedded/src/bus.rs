//! Live events within the process.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use tokio::sync::broadcast::{Receiver, Sender, channel, error::RecvError};
use trapline_model::InboxId;
use trapline_store::{Bus, LiveEvent, Result, Signal, SignalStream};

/// Events that a subscriber may be behind before it is told of a gap. Each inbox with subscribers
/// holds a place for as many pointers.
const BEHIND: usize = 32;

/// A channel for each inbox that somebody listens to.
#[derive(Default, Clone)]
pub(crate) struct MemoryBus(Arc<Mutex<HashMap<InboxId, Sender<Arc<LiveEvent>>>>>);

impl MemoryBus {
    fn channels(&self) -> MutexGuard<'_, HashMap<InboxId, Sender<Arc<LiveEvent>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Bus for MemoryBus {
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()> {
        if let Some(channel) = self.channels().get(&inbox) {
            // An error means that the last subscriber is just leaving.
            channel.send(Arc::new(event)).unwrap_or_default();
        }
        Ok(())
    }

    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream> {
        let events = match self.channels().entry(inbox) {
            std::collections::hash_map::Entry::Occupied(there) => there.get().subscribe(),
            std::collections::hash_map::Entry::Vacant(vacant) => {
                let (sender, events) = channel(BEHIND);
                vacant.insert(sender);
                events
            }
        };
        let subscription = Subscription { events: Some(events), inbox, bus: self.clone() };
        Ok(stream::unfold(subscription, Subscription::next).boxed())
    }
}

/// One subscriber; the last one takes the channel along.
struct Subscription {
    events: Option<Receiver<Arc<LiveEvent>>>,
    inbox: InboxId,
    bus: MemoryBus,
}

impl Subscription {
    async fn next(mut self) -> Option<(Signal, Self)> {
        let signal = match self.events.as_mut()?.recv().await {
            Ok(event) => Signal::Event(event),
            Err(RecvError::Lagged(_)) => Signal::Gap,
            Err(RecvError::Closed) => return None,
        };
        Some((signal, self))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut channels = self.bus.channels();
        // Under the lock, so that of two who leave at once the second sees that it is the last.
        self.events = None;
        if channels.get(&self.inbox).is_some_and(|channel| channel.receiver_count() == 0) {
            channels.remove(&self.inbox);
        }
    }
}
