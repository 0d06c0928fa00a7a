//! Events that could not be published: when Redis is back, their inboxes' listeners hear of a gap.
//!
//! A listener's own connection may have been up all the time, and then nothing else would tell it.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::cmd;
use tokio::time::{Instant, sleep};
use trapline_model::InboxId;

use super::{super::client::Client, super::meters::RedisCall, channel, wire};

/// Inboxes that are remembered; of more the bus gives up announcing.
const MAX_INBOXES: usize = 10_000;
/// The time between two rounds over the inboxes.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// After so long the bus gives up, and goes on trying. No more often either: whoever hears of it looks into
/// every inbox that is followed.
const GIVE_UP_AFTER: Duration = Duration::from_secs(10);

/// The inboxes whose listeners must hear of a gap. Clones share them.
#[derive(Clone, Default)]
pub(super) struct PendingGaps(Arc<PendingInboxes>);

#[derive(Default)]
struct PendingInboxes {
    inboxes: Mutex<BTreeSet<InboxId>>,
    /// Whether there were more than are remembered.
    overflowed: AtomicBool,
    given_up: AtomicU64,
}

impl PendingGaps {
    /// Takes note of an inbox. The first one starts the task that publishes the gaps.
    pub(super) fn add(&self, inbox: InboxId, client: &Arc<Client>, verb: &'static str) {
        let mut inboxes = self.0.inboxes.lock().unwrap_or_else(PoisonError::into_inner);
        if inboxes.len() >= MAX_INBOXES {
            // The task that publishes is at work, and gives up on these in its end.
            self.0.overflowed.store(true, Ordering::Relaxed);
            return;
        }
        let idle = inboxes.is_empty();
        inboxes.insert(inbox);
        if idle {
            tokio::spawn(self.clone().publish_all(client.clone(), verb));
        }
    }

    /// How often a gap could not be published for too long.
    pub(super) fn given_up(&self) -> u64 {
        self.0.given_up.load(Ordering::Relaxed)
    }

    /// Publishes a gap for each inbox, and ends when there are none left.
    async fn publish_all(self, client: Arc<Client>, verb: &'static str) {
        let mut since = Instant::now();
        loop {
            sleep(RETRY_DELAY).await;
            while let Some(inbox) = self.first() {
                let mut command = cmd(verb);
                command.arg(channel(&client.namespace, inbox)).arg(wire::GAP);
                if client.query::<()>(RedisCall::Publish, &command).await.is_err() {
                    break;
                }
                if self.remove(inbox) {
                    if self.0.overflowed.swap(false, Ordering::Relaxed) {
                        self.give_up();
                    }
                    return;
                }
            }
            if since.elapsed() >= GIVE_UP_AFTER {
                since = Instant::now();
                self.give_up();
            }
        }
    }

    fn give_up(&self) {
        self.0.given_up.fetch_add(1, Ordering::Relaxed);
    }

    fn first(&self) -> Option<InboxId> {
        self.0.inboxes.lock().unwrap_or_else(PoisonError::into_inner).first().copied()
    }

    /// Removes an inbox, and tells whether it was the last.
    fn remove(&self, inbox: InboxId) -> bool {
        let mut inboxes = self.0.inboxes.lock().unwrap_or_else(PoisonError::into_inner);
        inboxes.remove(&inbox);
        inboxes.is_empty()
    }
}
