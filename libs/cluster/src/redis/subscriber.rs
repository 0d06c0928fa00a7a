//! The connection over which a process hears.
//!
//! Not redis' `ConnectionManager`, which subscribes anew by itself but tells nobody when that is
//! done: until then events are lost, and a gap announced earlier would be of no use. Here each
//! connection has its own confirmations, so that none can be taken for one of another.

mod channels;
mod link;

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::{
    sync::{mpsc::UnboundedReceiver, oneshot},
    time::{Instant, interval, timeout_at},
};
use tracing::{info, warn};
use trapline_model::InboxId;
use trapline_store::Fanout;

use self::{
    channels::Channels,
    link::{Notice, SubscriberLink},
};
use super::{address::RedisAddress, client::Client};

/// Subscribing commands that are under way at once. A whole process' inboxes are subscribed anew
/// after an outage, a hundred thousand a second or so.
const CHANNELS_PER_COMMAND: usize = 256;

/// The time between attempts to connect, and until what failed is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(250);
const COMMAND_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Who listens changed.
pub(super) enum SubscriptionChange {
    /// A listener is there, and wants to know when the inbox's channel is active.
    Joined(InboxId, oneshot::Sender<()>),
    /// The last listener went.
    Left(InboxId),
}

/// Keeps the server's subscriptions as the process' listeners need them.
pub(super) struct Subscriber {
    client: Arc<Client>,
    address: RedisAddress,
    fanout: Fanout,
    channels: Channels,
    changes: UnboundedReceiver<SubscriptionChange>,
}

impl Subscriber {
    pub(super) fn new(
        client: Arc<Client>,
        address: RedisAddress,
        fanout: Fanout,
        changes: UnboundedReceiver<SubscriptionChange>,
    ) -> Self {
        let channels = Channels::new(fanout.clone());
        Self { client, address, fanout, channels, changes }
    }

    /// Connects and serves, again and again, until the bus is gone.
    pub(super) async fn run(mut self) {
        let mut down = false;
        while self.attempt(&mut down).await.is_continue() && self.pause().await.is_continue() {}
        self.fanout.close();
    }

    /// One connection, from its beginning to its end.
    async fn attempt(&mut self, down: &mut bool) -> ControlFlow<()> {
        let namespace = &self.client.namespace;
        match SubscriberLink::open(&self.address, namespace, self.fanout.clone()).await {
            Ok(link) => {
                if std::mem::take(down) {
                    info!("live events: connected to Redis again");
                }
                let end = self.serve(link).await;
                self.channels.disconnected();
                if end.is_continue() {
                    warn!("live events: the connection to Redis was lost");
                }
                end
            }
            Err(error) => {
                self.not_connected(&error, std::mem::replace(down, true));
                ControlFlow::Continue(())
            }
        }
    }

    /// An outage is told of once.
    fn not_connected(&self, error: &(dyn std::error::Error + 'static), down_already: bool) {
        self.client.meters.error();
        if !down_already {
            warn!(error, "live events: cannot connect to Redis");
        }
    }

    async fn serve(&mut self, mut link: SubscriberLink) -> ControlFlow<()> {
        let mut requests = FuturesUnordered::new();
        let mut retry = interval(COMMAND_RETRY_INTERVAL);
        loop {
            while requests.len() < CHANNELS_PER_COMMAND
                && let Some((verb, inbox)) = self.channels.next()
            {
                self.client.meters.operation(verb.operation());
                requests.push(link.request(verb, inbox));
            }
            tokio::select! {
                change = self.changes.recv() => self.change(change)?,
                notice = link.notice() => match notice {
                    Notice::Subscribed(inbox) => self.channels.subscribed(inbox),
                    Notice::Unsubscribed(inbox) => self.channels.unsubscribed(inbox),
                    Notice::Lost => return ControlFlow::Continue(()),
                },
                Some((inbox, answer)) = requests.next() => self.answered(inbox, answer),
                _ = retry.tick() => self.channels.retry(),
            }
        }
    }

    fn change(&mut self, change: Option<SubscriptionChange>) -> ControlFlow<()> {
        match change {
            Some(SubscriptionChange::Joined(inbox, active)) => self.channels.joined(inbox, active),
            Some(SubscriptionChange::Left(inbox)) => self.channels.left(inbox),
            None => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Takes note of failures; what went well is told by a notice.
    fn answered(&mut self, inbox: InboxId, answer: redis::RedisResult<()>) {
        let Err(error) = answer else { return };
        self.client.meters.error();
        // One of what may be thousands that fail for the same reason.
        if self.channels.failed(inbox) {
            warn!(%error, "live events: Redis refuses a subscription");
        }
    }

    /// Waits before the next connection, and takes note of changes meanwhile.
    async fn pause(&mut self) -> ControlFlow<()> {
        let until = Instant::now() + RETRY_DELAY;
        while let Ok(change) = timeout_at(until, self.changes.recv()).await {
            self.change(change)?;
        }
        ControlFlow::Continue(())
    }
}
