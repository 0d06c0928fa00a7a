//! What wakes a parked wait.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio::sync::watch;
use trapline_model::{InboxId, MessageId};
use trapline_store::{LiveEvent, Signal, SignalStream};
use uuid::Uuid;

use crate::{
    filter::Matcher,
    live::{
        feed::lost,
        resync::{NewestMessages, ResyncQueue, ResyncScheduler},
    },
};

/// Why a parked wait wakes.
#[derive(Debug)]
pub(super) enum WaitWake {
    /// An announced message may match.
    Candidate(MessageId),
    /// A resync found these messages.
    Resynced(Arc<NewestMessages>),
    /// Announcements were missed.
    Lagged,
    /// The inbox is deleted.
    Gone,
}

/// What a wait listens to of its inbox.
pub(super) struct WaitSubscription {
    pub(super) signals: SignalStream,
    pub(super) inbox: InboxId,
    pub(super) losses: watch::Receiver<u64>,
    pub(super) resyncs: Arc<ResyncScheduler>,
    pub(super) resync_queue: ResyncQueue,
}

impl WaitSubscription {
    /// Sleeps until a message may be there that is younger than `floor` or was stored late.
    pub(super) async fn wake(&mut self, matcher: &Matcher, floor: Uuid) -> WaitWake {
        loop {
            let Self { signals, losses, resync_queue, .. } = self;
            tokio::select! {
                signal = signals.next() => match signal {
                    Some(Signal::Event(event)) => {
                        if let Some(wake) = self.of_event(&event, matcher) {
                            return wake;
                        }
                    }
                    Some(Signal::Gap) => self.plan(floor),
                    Some(Signal::Lagged) => return WaitWake::Lagged,
                    // The bus is gone, and with it soon the process.
                    None => self.signals = futures_util::stream::pending().boxed(),
                },
                () = lost(losses) => self.plan(floor),
                found = resync_queue.found() => match found {
                    Some(found) => return WaitWake::Resynced(found),
                    None => self.plan(floor),
                },
            }
        }
    }

    fn plan(&mut self, floor: Uuid) {
        self.resync_queue.plan(&self.resyncs, self.inbox, floor);
    }

    fn of_event(&self, event: &LiveEvent, matcher: &Matcher) -> Option<WaitWake> {
        match event {
            LiveEvent::MessageCreated { id, from, to, subject, cut, record } => {
                let id = MessageId { inbox: self.inbox, uuid: *id };
                let in_time = matcher.since.is_none_or(|since| id.received_at() >= since);
                let may_match = *cut || matcher.matches(from, to, subject);
                let has_code = record.as_ref().and_then(|record| record.has_code);
                let may_match = may_match && !(matcher.has_code && has_code == Some(false));
                (in_time && may_match).then_some(WaitWake::Candidate(id))
            }
            LiveEvent::InboxDeleted => Some(WaitWake::Gone),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
