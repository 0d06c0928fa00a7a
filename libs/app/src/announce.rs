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
/// Between a subscription that failed and the next try.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Tells who listens to an inbox; whoever misses it reads the store again. A bus that does not answer
/// is logged once a minute.
pub(crate) async fn announce(bus: &dyn Bus, inbox: InboxId, event: LiveEvent) {
    static LINE: LogThrottle = LogThrottle::new();
    if let Err(error) = bus.publish(inbox, event).await
        && let Some(left_out) = LINE.due()
    {
        tracing::warn!(%error, left_out, "a live event was not sent");
    }
}

/// Something that this process remembers and that another process may change.
pub(crate) trait Remembered: Send + Sync {
    /// Forgets what the event says was changed.
    fn forget_changed(&self, event: &LiveEvent);
    /// Forgets everything: a change may have gone unheard.
    fn forget_all(&self);
}

/// Forgets what other processes changed, and everything whenever a change may have gone unheard. Runs
/// until it is dropped.
pub(crate) async fn follow_changes(bus: Arc<dyn Bus>, remembered: Vec<Arc<dyn Remembered>>) {
    let forget_all = || {
        for known in &remembered {
            known.forget_all();
        }
    };
    loop {
        match bus.subscribe(BROADCAST).await {
            Ok(mut signals) => {
                forget_all();
                while let Some(signal) = signals.next().await {
                    match signal {
                        Signal::Gap | Signal::Lagged => forget_all(),
                        Signal::Event(event) => {
                            for known in &remembered {
                                known.forget_changed(&event);
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
