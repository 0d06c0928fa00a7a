//! Waiting for a message, without a moment in which one can be missed.
//!
//! Subscribe, then look, then listen: a message is either written before the look, and found by it,
//! or announced after the subscription. What may be stored and was not announced is found by a look that
//! all who follow the inbox share.

mod misses;
mod seen;
mod wake;

use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};
use trapline_model::{InboxId, Message, MessageId, NearMiss, Principal};
use trapline_store::{Scan, Value, records};

use super::{
    LiveUpdates,
    feed::{ends, window_floor},
    resync::ResyncQueue,
};
use crate::{
    Error, Filter, Result, filter::Matcher, message_scans::message_rows, metrics, onboarding::Step,
};
use seen::SeenMessages;
use wake::{WaitSubscription, WaitWake};

/// Rows read at a time: with the bound on a row's size this bounds the memory of a query.
const PAGE_ROWS: usize = 100;
/// How long the last query may take after the wait's time is over: it finds what was not announced.
const LAST_QUERY_TIMEOUT: Duration = Duration::from_secs(1);

/// How a wait ended.
#[derive(Debug)]
pub enum Waited {
    /// A message matched.
    Found(Box<Message>),
    /// No message matched in time; these failed one filter only.
    TimedOut(Vec<NearMiss>),
}

type MatchingMessage = (MessageId, records::Message);

impl LiveUpdates {
    /// Answers with the newest matching message of the inbox, or else with the first that arrives
    /// within `time`, which holds over reading and looking into messages as well.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox, also when it goes meanwhile,
    /// [`Error::TooManyStreams`] when as many waits and streams are open as may be, and
    /// [`Error::Unavailable`] at shutdown.
    pub async fn wait(
        &self,
        by: &Principal,
        id: InboxId,
        filter: &Filter,
        time: Duration,
    ) -> Result<Waited> {
        let mut inbox = self.inboxes.record(by.team, id).await?;
        let _parked = self.stream_permit(by.team)?;
        let _counted = metrics::parked_wait();
        let matcher = Matcher::new(filter);
        let until = Instant::now() + time;
        loop {
            let ends = ends(inbox.expires_at, self.clock.now());
            let deadline = ends.map_or(until, |ends| ends.min(until));
            let waiting = Box::pin(self.wait_until(&inbox, &matcher, deadline));
            let found =
                self.shutdown.run_until_cancelled(waiting).await.ok_or(Error::Unavailable)??;
            if let Some((id, record)) = found {
                metrics::wait_ended("found");
                Box::pin(self.first_steps.note(by.team, Step::Wait)).await;
                let message = Box::pin(self.messages.load_full(id, record)).await?;
                return Ok(Waited::Found(Box::new(message)));
            }
            // The inbox may be over, or have been given more time.
            inbox = self.inboxes.record(by.team, id).await?;
            if Instant::now() >= until {
                metrics::wait_ended("timed_out");
                let misses = Box::pin(self.near_misses(&inbox, &matcher)).await?;
                return Ok(Waited::TimedOut(misses));
            }
        }
    }

    async fn wait_until(
        &self,
        inbox: &records::Inbox,
        matcher: &Matcher,
        deadline: Instant,
    ) -> Result<Option<MatchingMessage>> {
        let losses = self.subscribe_losses();
        let subscription = WaitSubscription {
            signals: self.bus.subscribe(inbox.id).await?,
            inbox: inbox.id,
            losses,
            resyncs: self.resyncs.clone(),
            resync_queue: ResyncQueue::default(),
        };
        let mut seen = SeenMessages::before(matcher.since);
        let listening = self.listen(inbox, matcher, subscription, &mut seen);
        if let Ok(found) = timeout_at(deadline, listening).await
            && let Some(found) = found?
        {
            return Ok(Some(found));
        }
        // What no one announced is found at the latest now.
        let look = Box::pin(self.query(inbox, matcher, &mut seen));
        timeout(LAST_QUERY_TIMEOUT, look).await.unwrap_or(Ok(None))
    }

    /// Looks, then listens, until there is a message or the inbox is over.
    async fn listen(
        &self,
        inbox: &records::Inbox,
        matcher: &Matcher,
        mut subscription: WaitSubscription,
        seen: &mut SeenMessages,
    ) -> Result<Option<MatchingMessage>> {
        // In boxes, so that a parked wait holds no room for what runs now and then.
        if let Some(found) = Box::pin(self.query(inbox, matcher, seen)).await? {
            return Ok(Some(found));
        }
        loop {
            let wake = subscription.wake(matcher, seen.floor).await;
            if inbox.expired(self.clock.now()) {
                return Ok(None);
            }
            let found = match wake {
                WaitWake::Candidate(id) => Box::pin(self.candidate(id, matcher)).await?,
                WaitWake::Resynced(found) if seen.is_all_of(&found) => None,
                WaitWake::Resynced(_) | WaitWake::Lagged => {
                    Box::pin(self.inboxes.record(inbox.team, inbox.id)).await?;
                    Box::pin(self.query(inbox, matcher, seen)).await?
                }
                WaitWake::Gone => return Err(Error::NotFound),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// The newest stored message that matches, of those that were not seen. Takes note of what it saw.
    async fn query(
        &self,
        inbox: &records::Inbox,
        matcher: &Matcher,
        seen: &mut SeenMessages,
    ) -> Result<Option<MatchingMessage>> {
        let mut left = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        let (mut after, mut ids) = (None, Vec::new());
        while left > 0 {
            let until = Some(vec![Value::Uuid(seen.floor)]);
            let scan = Scan { until, ..message_rows(inbox.id, after, left.min(PAGE_ROWS)) };
            let rows = self.read_for_stream(inbox.id, self.store.scan(scan)).await?;
            let Some(last) = rows.last() else { break };
            (left, after) = (left - rows.len(), Some(records::Message::id(last)));
            for row in &rows {
                let id = MessageId { inbox: inbox.id, uuid: records::Message::id(row) };
                let in_time = matcher.since.is_none_or(|since| id.received_at() >= since);
                if ids.first().is_none_or(|newest| id.uuid > window_floor(*newest)) {
                    ids.push(id.uuid);
                }
                if !in_time || !matcher.may_match(row) {
                    continue;
                }
                let record = records::Message::of(row)?;
                if self.matches(&record, matcher).await? {
                    return Ok(Some((id, record)));
                }
            }
        }
        seen.note(&ids);
        Ok(None)
    }

    /// A message whose announcement matches, unless it is gone already.
    async fn candidate(&self, id: MessageId, matcher: &Matcher) -> Result<Option<MatchingMessage>> {
        let row = self.store.get(&records::Message::row(id)).await?;
        let Some(row) = row else { return Ok(None) };
        let record = records::Message::of(&row)?;
        Ok(self.matches(&record, matcher).await?.then_some((id, record)))
    }

    async fn matches(&self, record: &records::Message, matcher: &Matcher) -> Result<bool> {
        Ok(self.messages.matches_heading(record, matcher).await?
            && (!matcher.has_code || self.messages.has_code(record).await?))
    }
}
