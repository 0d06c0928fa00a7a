//! Live events between processes.
//!
//! Published events go through the pool; all that a process hears comes over one connection of its
//! own (see [`Subscriber`]) and is fanned out within the process.

mod pending_gaps;
mod wire;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use redis::cmd;
use tokio::{
    sync::{
        mpsc::{UnboundedSender, unbounded_channel},
        oneshot,
    },
    time::timeout,
};
use trapline_model::InboxId;
use trapline_store::{Bus, Fanout, LiveEvent, PortError, Result, SignalStream};

use self::pending_gaps::PendingGaps;
pub(super) use self::wire::{channel, decode, inbox_of};
use super::{
    address::RedisAddress,
    client::Client,
    meters::RedisCall,
    subscriber::{Subscriber, SubscriptionChange},
};

/// How long a new subscriber waits for the server's confirmation. After that it goes on, and hears
/// of a gap as soon as the confirmation is there.
const CONFIRMATION_TIMEOUT: Duration = Duration::from_secs(2);

/// The bus of all processes with the same namespace.
pub(super) struct RedisBus {
    client: Arc<Client>,
    fanout: Fanout,
    /// Unbounded, but each subscriber is in it twice at most: coming and going.
    changes: UnboundedSender<SubscriptionChange>,
    pending_gaps: PendingGaps,
}

impl RedisBus {
    /// Starts the task that subscribes; it ends with the bus.
    pub(super) fn start(client: Arc<Client>, address: RedisAddress) -> Self {
        let (changes, coming) = unbounded_channel();
        let leaving = changes.downgrade();
        let fanout = Fanout::new(move |inbox| {
            // When the bus is gone, so is the connection.
            leaving.upgrade().map(|changes| changes.send(SubscriptionChange::Left(inbox)).ok());
        });
        let subscriber = Subscriber::new(Arc::clone(&client), address, fanout.clone(), coming);
        tokio::spawn(subscriber.run());
        Self { client, fanout, changes, pending_gaps: PendingGaps::default() }
    }

    fn verb(&self) -> &'static str {
        if self.client.is_cluster() { "SPUBLISH" } else { "PUBLISH" }
    }

    /// Returns when the task that subscribes has ended, after which nothing is heard any more.
    pub(super) async fn ended(&self) {
        self.changes.closed().await;
    }
}

#[async_trait]
impl Bus for RedisBus {
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()> {
        let verb = self.verb();
        let channel = channel(&self.client.namespace, inbox);
        for payload in wire::encode(event) {
            let mut command = cmd(verb);
            command.arg(&channel).arg(payload);
            let sent = self.client.query::<()>(RedisCall::Publish, &command).await;
            sent.inspect_err(|_| self.pending_gaps.add(inbox, &self.client, verb))?;
        }
        Ok(())
    }

    fn left_out(&self, inbox: InboxId) {
        self.pending_gaps.add(inbox, &self.client, self.verb());
    }

    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream> {
        let signals = self.fanout.listen(inbox);
        let (active, confirmed) = oneshot::channel();
        self.changes
            .send(SubscriptionChange::Joined(inbox, active))
            .map_err(PortError::unavailable)?;
        timeout(CONFIRMATION_TIMEOUT, confirmed).await.ok();
        Ok(signals)
    }

    fn given_up(&self) -> u64 {
        self.pending_gaps.given_up()
    }
}
