//! What a parked wait hears, and when it looks without having heard anything.

use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};
use trapline_model::{InboxId, MessageId};
use trapline_store::{LiveEvent, Signal, SignalStream};

use crate::filter::Matcher;

/// How often the store is read though nothing was announced: a process that is killed between
/// storing a message and announcing it announces nothing.
const POLL: Duration = Duration::from_secs(20);
/// The same, while the bus may lose events.
const POLL_AFTER_GAP: Duration = Duration::from_secs(2);
const GAP_LASTS: Duration = Duration::from_secs(30);

/// Why a parked wait wakes.
#[derive(Debug, PartialEq)]
pub(super) enum Wake {
    Candidate(MessageId),
    Look,
    Deadline,
    Gone,
}

/// The signals of one inbox.
pub(super) struct Ears {
    signals: SignalStream,
    inbox: InboxId,
    gap_until: Option<Instant>,
}

impl Ears {
    pub(super) fn new(signals: SignalStream, inbox: InboxId) -> Self {
        Self { signals, inbox, gap_until: None }
    }

    /// Sleeps until something may have changed. What is heard and does not match does not put off
    /// the next look: what was announced and lost is found by it.
    pub(super) async fn wake(&mut self, matcher: &Matcher, deadline: Instant) -> Wake {
        let now = Instant::now();
        let after_gap = self.gap_until.is_some_and(|until| now < until);
        let look = deadline.min(now + if after_gap { POLL_AFTER_GAP } else { POLL });
        loop {
            if Instant::now() >= look {
                return if look == deadline { Wake::Deadline } else { Wake::Look };
            }
            match timeout_at(look, self.signals.next()).await {
                Ok(Some(Signal::Event(event))) => {
                    if let Some(wake) = self.of_event(&event, matcher) {
                        return wake;
                    }
                }
                Ok(Some(Signal::Gap)) => {
                    self.gap_until = Some(Instant::now() + GAP_LASTS);
                    return Wake::Look;
                }
                // The bus is gone: what is left is to look now and then.
                Ok(None) => {
                    self.signals = futures_util::stream::pending().boxed();
                    self.gap_until = Some(deadline);
                    return Wake::Look;
                }
                Err(_elapsed) => {}
            }
        }
    }

    fn of_event(&self, event: &LiveEvent, matcher: &Matcher) -> Option<Wake> {
        match event {
            LiveEvent::MessageCreated { id, from, to, subject, cut } => {
                let id = MessageId { inbox: self.inbox, uuid: *id };
                let in_time = matcher.since.is_none_or(|since| id.received_at() >= since);
                let may_match = *cut || matcher.matches(from, to, subject);
                (in_time && may_match).then_some(Wake::Candidate(id))
            }
            LiveEvent::InboxDeleted => Some(Wake::Gone),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter;
    use std::sync::Arc;
    use uuid::Uuid;

    fn heard(subject: &str, cut: bool) -> Signal {
        Signal::Event(Arc::new(LiveEvent::MessageCreated {
            id: Uuid::nil(),
            from: Vec::new(),
            to: Vec::new(),
            subject: subject.to_owned(),
            cut,
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn noise_does_not_put_off_the_next_look() {
        let noise = futures_util::stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            Some((heard("noise", false), ()))
        });
        let mut ears = Ears::new(noise.boxed(), InboxId(Uuid::nil()));
        let filter = Filter { subject: Some("code".to_owned()), ..Filter::default() };
        let (began, matcher) = (Instant::now(), Matcher::new(&filter));
        let deadline = began + Duration::from_mins(2);
        assert_eq!(ears.wake(&matcher, deadline).await, Wake::Look);
        assert_eq!(began.elapsed().as_secs(), POLL.as_secs());
        ears.gap_until = Some(deadline);
        assert_eq!(ears.wake(&matcher, deadline).await, Wake::Look);
        assert_eq!(began.elapsed().as_secs(), (POLL + POLL_AFTER_GAP).as_secs());
        let soon = Instant::now() + Duration::from_secs(1);
        assert_eq!(ears.wake(&matcher, soon).await, Wake::Deadline);
    }

    #[tokio::test]
    async fn what_is_announced_in_part_is_looked_at() {
        let filter = Filter { subject: Some("code".to_owned()), ..Filter::default() };
        let signals = futures_util::stream::iter([heard("no", false), heard("cut", true)]);
        let mut ears = Ears::new(signals.boxed(), InboxId(Uuid::nil()));
        let deadline = Instant::now() + Duration::from_mins(2);
        let wake = ears.wake(&Matcher::new(&filter), deadline).await;
        assert!(matches!(wake, Wake::Candidate(_)), "{wake:?}");
    }
}
