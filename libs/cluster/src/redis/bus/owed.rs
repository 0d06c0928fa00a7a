//! Events that could not be published: when Redis is back, their inboxes' listeners hear of a gap.
//!
//! A listener's own connection may have been up all the time, and then nothing else would tell it.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use redis::cmd;
use tokio::time::sleep;
use trapline_model::InboxId;

use super::{super::client::Client, super::meters::Operation, channel, wire};

/// Inboxes that are remembered; listeners of others find out when they read the store by themselves.
const MOST: usize = 10_000;
/// Between tries.
const PAUSE: Duration = Duration::from_millis(500);

/// The inboxes that are owed a gap. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Owed(Arc<Mutex<BTreeSet<InboxId>>>);

impl Owed {
    /// Takes note of an inbox. The first one starts the task that pays.
    pub(super) fn owe(&self, inbox: InboxId, client: &Arc<Client>, verb: &'static str) {
        let mut inboxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inboxes.len() >= MOST {
            return;
        }
        let idle = inboxes.is_empty();
        inboxes.insert(inbox);
        if idle {
            tokio::spawn(self.clone().pay(client.clone(), verb));
        }
    }

    /// Ends when nothing is owed any more.
    async fn pay(self, client: Arc<Client>, verb: &'static str) {
        loop {
            sleep(PAUSE).await;
            while let Some(inbox) = self.first() {
                let mut command = cmd(verb);
                command.arg(channel(&client.namespace, inbox)).arg(wire::GAP);
                if client.query::<()>(Operation::Publish, &command).await.is_err() {
                    break;
                }
                if self.paid(inbox) {
                    return;
                }
            }
        }
    }

    fn first(&self) -> Option<InboxId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).first().copied()
    }

    /// Removes one, and tells whether it was the last.
    fn paid(&self, inbox: InboxId) -> bool {
        let mut inboxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inboxes.remove(&inbox);
        inboxes.is_empty()
    }
}
