//! What is subscribed, what should be, and who waits for it.
//!
//! Each channel has one command under way at most, and what is needed next is decided when that is
//! answered, by who listens then: quick changes between coming and going cannot overtake another.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use tokio::sync::oneshot;
use trapline_model::InboxId;
use trapline_store::{Fanout, Signal};

use super::link::Verb;

/// The channels of a process.
pub(super) struct Channels {
    fanout: Fanout,
    known: HashMap<InboxId, Channel>,
    /// Those that may need a command.
    due: VecDeque<InboxId>,
    failed: Vec<InboxId>,
}

#[derive(Default)]
struct Channel {
    /// The server has confirmed it, over the connection in use.
    active: bool,
    /// A command is under way.
    busy: bool,
    /// Listeners may have missed events.
    missed: bool,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Channels {
    pub(super) fn new(fanout: Fanout) -> Self {
        Self { fanout, known: HashMap::new(), due: VecDeque::new(), failed: Vec::new() }
    }

    /// Somebody listens, and is told when the channel is active.
    pub(super) fn joined(&mut self, inbox: InboxId, active: oneshot::Sender<()>) {
        let channel = self.known.entry(inbox).or_default();
        if channel.active && !channel.busy {
            // One that has given up has lost nothing.
            active.send(()).ok();
        } else {
            channel.waiting.push(active);
            self.due.push_back(inbox);
        }
    }

    /// The last listener went, though another may have come since.
    pub(super) fn left(&mut self, inbox: InboxId) {
        self.due.push_back(inbox);
    }

    /// The next command to send.
    pub(super) fn next(&mut self) -> Option<(Verb, InboxId)> {
        while let Some(inbox) = self.due.pop_front() {
            let Some(channel) = self.known.get_mut(&inbox) else { continue };
            if channel.busy {
                continue;
            }
            let verb = match (self.fanout.has(inbox), channel.active) {
                (true, false) => Verb::Subscribe,
                (false, true) => Verb::Unsubscribe,
                (true, true) => continue,
                (false, false) => {
                    self.known.remove(&inbox);
                    continue;
                }
            };
            channel.busy = true;
            return Some((verb, inbox));
        }
        None
    }

    /// The server confirmed: from here on nothing is missed.
    pub(super) fn subscribed(&mut self, inbox: InboxId) {
        let channel = self.known.entry(inbox).or_default();
        (channel.active, channel.busy) = (true, false);
        let mut missed = std::mem::take(&mut channel.missed);
        for active in channel.waiting.drain(..) {
            // Who has given up waiting listens already.
            missed |= active.send(()).is_err();
        }
        if missed {
            self.fanout.send(inbox, Signal::Gap);
        }
        self.due.push_back(inbox);
    }

    /// The server confirmed, or ended the subscription itself because the channel moved to another
    /// server of the cluster.
    pub(super) fn unsubscribed(&mut self, inbox: InboxId) {
        if let Some(channel) = self.known.get_mut(&inbox) {
            channel.missed |= channel.active && !channel.busy;
            (channel.active, channel.busy) = (false, false);
            self.due.push_back(inbox);
        }
    }

    /// A command failed; [`Channels::retry`] gives it another chance. Tells whether it is the first
    /// since then.
    pub(super) fn failed(&mut self, inbox: InboxId) -> bool {
        if let Some(channel) = self.known.get_mut(&inbox) {
            channel.busy = false;
        }
        self.failed.push(inbox);
        self.failed.len() == 1
    }

    pub(super) fn retry(&mut self) {
        self.due.extend(self.failed.drain(..));
    }

    /// The connection is gone, and all subscriptions with it.
    pub(super) fn disconnected(&mut self) {
        for channel in self.known.values_mut() {
            channel.missed |= channel.active;
            (channel.active, channel.busy) = (false, false);
        }
        self.failed.clear();
        self.due = self.known.keys().copied().collect();
    }
}
