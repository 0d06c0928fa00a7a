//! Inboxes whose counts event streams of other inboxes tell, too. Each is followed and counted once in a
//! process, however many streams tell of it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{FutureExt as _, StreamExt as _};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};
use trapline_model::{Inbox, InboxId, Principal, TeamId};
use trapline_store::{LiveEvent, Signal, SignalStream};
use uuid::Uuid;

use super::{LiveUpdates, feed::lost, streams::StreamPermit};
use crate::{Error, Result, log_throttle::LogThrottle};

/// Between two counts of an inbox.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);
/// Delay before an inbox is counted again after the store did not answer.
const STORE_RETRY_DELAY: Duration = Duration::from_secs(2);

/// An inbox as it was counted; `None` until it changes for the first time. Ends with the inbox.
pub(super) type Counted = watch::Receiver<Option<Arc<CountedInbox>>>;

type Teller = watch::Sender<Option<Arc<CountedInbox>>>;

/// An inbox with its counts.
pub(super) struct CountedInbox {
    pub(super) inbox: Inbox,
    /// When they were taken: a `UUIDv7`.
    pub(super) counted_at: Uuid,
}

/// The inboxes that are counted in this process.
#[derive(Default)]
pub(super) struct CountedInboxes(Mutex<HashMap<InboxId, Teller>>);

impl CountedInboxes {
    fn all(&self) -> MutexGuard<'_, HashMap<InboxId, Teller>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets an inbox that no stream tells of. Under the lock, so that none begins to meanwhile.
    fn forget_unused(&self, inbox: InboxId) -> bool {
        let mut all = self.all();
        let is_unused = all.get(&inbox).is_none_or(|teller| teller.receiver_count() == 0);
        if is_unused {
            all.remove(&inbox);
        }
        is_unused
    }
}

impl LiveUpdates {
    /// Follows the counts of one of the team's inboxes: at most one change of them in a second.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyStreams`] when as many inboxes, waits and streams are followed as may be.
    pub(super) async fn counted(self: &Arc<Self>, team: TeamId, inbox: InboxId) -> Result<Counted> {
        if let Some(teller) = self.counted.all().get(&inbox) {
            return Ok(teller.subscribe());
        }
        let permit = self.stream_permit(team)?;
        let signals = self.bus.subscribe(inbox).await?;
        let mut all = self.counted.all();
        // Another stream may have come first.
        if let Some(teller) = all.get(&inbox) {
            return Ok(teller.subscribe());
        }
        let (teller, counted) = watch::channel(None);
        all.insert(inbox, teller.clone());
        tokio::spawn(self.clone().count(team, inbox, signals, teller, permit));
        Ok(counted)
    }

    /// Counts an inbox after each change, until no stream tells of it or it is gone.
    async fn count(
        self: Arc<Self>,
        team: TeamId,
        id: InboxId,
        mut signals: SignalStream,
        teller: Teller,
        _permit: StreamPermit,
    ) {
        let mut losses = self.subscribe_losses();
        let mut next = Instant::now();
        loop {
            tokio::select! {
                signal = signals.next() => if is_last(signal.as_ref()) { break },
                () = lost(&mut losses) => {}
                () = teller.closed() => {
                    if self.counted.forget_unused(id) {
                        return;
                    }
                    continue;
                }
                () = self.shutdown.cancelled() => break,
            }
            sleep_until(next).await;
            // What happened meanwhile is counted, too.
            while let Some(signal) = signals.next().now_or_never() {
                if is_last(signal.as_ref()) {
                    break;
                }
            }
            next = Instant::now() + COUNT_INTERVAL;
            let Some(counted) = self.count_now(team, id).await else { break };
            teller.send_replace(Some(Arc::new(counted)));
        }
        self.counted.all().remove(&id);
    }

    /// The inbox with its counts, as soon as the store answers; `None` when it is gone.
    async fn count_now(&self, team: TeamId, id: InboxId) -> Option<CountedInbox> {
        static LINE: LogThrottle = LogThrottle::new();
        loop {
            let counted_at = self.ids.next();
            let by = Principal::system(team);
            match self.read_for_stream(id, self.inboxes.get(&by, id)).await {
                Ok(inbox) => return Some(CountedInbox { inbox, counted_at }),
                Err(Error::NotFound) => return None,
                Err(error) => {
                    if let Some(left_out) = LINE.due() {
                        tracing::warn!(%error, left_out, "an inbox could not be counted for streams");
                    }
                    sleep(STORE_RETRY_DELAY).await;
                }
            }
        }
    }
}

/// Whether an inbox is gone after a signal, or the bus and with it soon the process.
fn is_last(signal: Option<&Signal>) -> bool {
    match signal {
        Some(Signal::Event(event)) => **event == LiveEvent::InboxDeleted,
        Some(_) => false,
        None => true,
    }
}
