//! Live events on the bus: who listens to an inbox, and what every process hears.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use trapline_model::InboxId;
use trapline_store::{Bus, LiveEvent, Signal};
use uuid::Uuid;

use crate::log_throttle::LogThrottle;

/// The channel on which every process hears of changed logins, webhooks and rules; no inbox has this
/// id.
pub(crate) const BROADCAST: InboxId = InboxId(Uuid::nil());
/// Bytes of JSON of a row that its announcement may carry.
pub(crate) const MAX_ANNOUNCED: usize = 4 * 1024;
/// Delay before a failed subscription is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Publishes an event to the listeners of an inbox; one that misses it reads the store again. A bus that
/// does not answer is logged once a minute.
pub(crate) async fn announce(bus: &dyn Bus, inbox: InboxId, event: LiveEvent) {
    static LINE: LogThrottle = LogThrottle::new();
    if let Err(error) = bus.publish(inbox, event).await
        && let Some(left_out) = LINE.due()
    {
        tracing::warn!(%error, left_out, "a live event was not sent");
    }
}

/// A cache of this process over rows that another process may change.
pub(crate) trait LocalCache: Send + Sync {
    /// Drops the entries that the event says were changed.
    fn invalidate_changed(&self, event: &LiveEvent);
    /// Drops every entry: an event may have been missed.
    fn invalidate_all(&self);
}

/// Invalidates caches by the events of other processes, and whole whenever an event may have been missed.
/// Runs until it is dropped.
pub(crate) async fn follow_invalidations(bus: Arc<dyn Bus>, remembered: Vec<Arc<dyn LocalCache>>) {
    let invalidate_all = || {
        for known in &remembered {
            known.invalidate_all();
        }
    };
    loop {
        match bus.subscribe(BROADCAST).await {
            Ok(mut signals) => {
                invalidate_all();
                while let Some(signal) = signals.next().await {
                    match signal {
                        Signal::Gap | Signal::Lagged => invalidate_all(),
                        Signal::Event(event) => {
                            for known in &remembered {
                                known.invalidate_changed(&event);
                            }
                        }
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, "changes of logins, webhooks and rules are not heard");
            }
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
}
