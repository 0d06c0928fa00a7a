//! Fan-out of signals within a process: a channel for each inbox that somebody listens to.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{StreamExt as _, stream};
use tokio::sync::broadcast::{Receiver, Sender, channel, error::RecvError};
use trapline_model::InboxId;

use crate::{Signal, SignalStream};

/// Signals that a listener may be behind before it is told that it lags. Each inbox with listeners
/// holds a place for as many pointers.
const BEHIND: usize = 32;

/// The listeners of a process, by inbox. Clones share them.
#[derive(Clone)]
pub struct Fanout(Arc<FanoutChannels>);

struct FanoutChannels {
    channels: Mutex<HashMap<InboxId, Sender<Signal>>>,
    left: Box<dyn Fn(InboxId) + Send + Sync>,
}

impl Fanout {
    /// Calls `left` each time the last listener of an inbox has gone; it must not block.
    pub fn new(left: impl Fn(InboxId) + Send + Sync + 'static) -> Self {
        Self(Arc::new(FanoutChannels { channels: Mutex::default(), left: Box::new(left) }))
    }

    /// Hears what is sent from now on, or [`Signal::Lagged`] for what it was too slow to hear.
    #[must_use]
    pub fn listen(&self, inbox: InboxId) -> SignalStream {
        let signals = self.channels().entry(inbox).or_insert_with(|| channel(BEHIND).0).subscribe();
        let listener = Listener { signals: Some(signals), inbox, fanout: self.clone() };
        stream::unfold(listener, Listener::next).boxed()
    }

    /// Sends to whoever listens now.
    pub fn send(&self, inbox: InboxId, signal: Signal) {
        if let Some(channel) = self.channels().get(&inbox) {
            // An error means that the last listener is just leaving.
            channel.send(signal).unwrap_or_default();
        }
    }

    /// Whether anybody listens.
    #[must_use]
    pub fn has(&self, inbox: InboxId) -> bool {
        self.channels().contains_key(&inbox)
    }

    /// Ends every stream.
    pub fn close(&self) {
        self.channels().clear();
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<InboxId, Sender<Signal>>> {
        self.0.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Fanout {
    fn default() -> Self {
        Self::new(|_| ())
    }
}

impl fmt::Debug for Fanout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fanout").field("inboxes", &self.channels().len()).finish_non_exhaustive()
    }
}

/// One listener; the last one takes the channel along.
struct Listener {
    signals: Option<Receiver<Signal>>,
    inbox: InboxId,
    fanout: Fanout,
}

impl Listener {
    async fn next(mut self) -> Option<(Signal, Self)> {
        let signal = match self.signals.as_mut()?.recv().await {
            Ok(signal) => signal,
            Err(RecvError::Lagged(_)) => Signal::Lagged,
            Err(RecvError::Closed) => return None,
        };
        Some((signal, self))
    }

    /// Leaves, and tells whether it was the last.
    fn leave(&mut self) -> bool {
        let mut channels = self.fanout.channels();
        // Under the lock, so that of two who leave at once the second sees that it is the last.
        self.signals = None;
        let last = channels.get(&self.inbox).is_some_and(|channel| channel.receiver_count() == 0);
        if last {
            channels.remove(&self.inbox);
        }
        last
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.leave() {
            (self.fanout.0.left)(self.inbox);
        }
    }
}
