//! Waiting for a message, without a moment in which one can be missed.
//!
//! Subscribe, then look, then listen: a message is either written before the look, and found by it,
//! or announced after the subscription.

use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};
use trapline_model::{InboxId, Message, MessageId, NearMiss, TeamId};
use trapline_store::{LiveEvent, Signal, SignalStream, records};

use crate::{
    App, Error, Filter, Result,
    filter::{Matcher, Parties},
    messages::rows_of,
    metrics,
};

/// How often the store is read though nothing was announced: a process that is killed between
/// storing a message and announcing it announces nothing.
const POLL: Duration = Duration::from_secs(20);
/// The same, while the bus may lose events.
const POLL_AFTER_GAP: Duration = Duration::from_secs(2);
const GAP_LASTS: Duration = Duration::from_secs(30);
/// Rows read at a time.
const STEP: usize = 200;
const NEAR_MISSES: usize = 5;
const NEAR_ROWS: usize = 100;
const NEAR_AGE: Duration = Duration::from_mins(5);

/// How a wait ended.
#[derive(Debug)]
pub enum Waited {
    /// The message.
    Found(Box<Message>),
    /// None came in time; these missed by one filter.
    TimedOut(Vec<NearMiss>),
}

/// Why a parked wait wakes.
enum Wake {
    Candidate(MessageId),
    Look,
    Deadline,
    Gone,
}

impl App {
    /// Answers with the newest matching message of the inbox, or else with the first that arrives
    /// within `timeout`.
    pub async fn wait(
        &self,
        team: TeamId,
        id: InboxId,
        filter: &Filter,
        timeout: Duration,
    ) -> Result<Waited> {
        let inbox = self.inbox_record(team, id).await?;
        let _parked = self.stream_permit()?;
        let _counted = metrics::parked_wait();
        let left = inbox.expires_at.map_or(timeout, |at| at.since(self.now()));
        let deadline = Instant::now() + timeout.min(left);
        let matcher = Matcher::new(filter);
        let waiting = self.wait_until(&inbox, &matcher, deadline);
        let found = self.shutdown.run_until_cancelled(Box::pin(waiting)).await;
        if let Some((id, record)) = found.ok_or(Error::Unavailable)?? {
            metrics::wait_ended("found");
            return Ok(Waited::Found(Box::new(self.open(id, record).await?)));
        }
        metrics::wait_ended("timed_out");
        Ok(Waited::TimedOut(self.near_misses(&inbox, &matcher).await?))
    }

    /// One more parked wait or event stream, if the process may hold it.
    pub(crate) fn stream_permit(&self) -> Result<tokio::sync::OwnedSemaphorePermit> {
        let retry_after = Duration::from_secs(1);
        self.streams.clone().try_acquire_owned().map_err(|_| Error::TooMany { retry_after })
    }

    async fn wait_until(
        &self,
        inbox: &records::Inbox,
        matcher: &Matcher,
        deadline: Instant,
    ) -> Result<Option<(MessageId, records::Message)>> {
        let mut signals = self.ports.bus.subscribe(inbox.id).await?;
        let mut gap_until = None;
        let mut look = true;
        loop {
            if look && let Some(found) = self.look(inbox, matcher).await? {
                return Ok(Some(found));
            }
            look = false;
            let wake = wake(&mut signals, inbox.id, matcher, deadline, &mut gap_until).await;
            if inbox.expired(self.now()) {
                return Err(Error::NotFound);
            }
            match wake {
                Wake::Candidate(id) => {
                    if let Some(record) = self.candidate(inbox, id, matcher).await? {
                        return Ok(Some((id, record)));
                    }
                }
                Wake::Look => {
                    self.inbox_record(inbox.team, inbox.id).await?;
                    look = true;
                }
                // What no one announced is found at the latest now.
                Wake::Deadline => return self.look(inbox, matcher).await,
                Wake::Gone => return Err(Error::NotFound),
            }
        }
    }

    /// The newest stored message that matches.
    async fn look(
        &self,
        inbox: &records::Inbox,
        matcher: &Matcher,
    ) -> Result<Option<(MessageId, records::Message)>> {
        let mut left = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        let mut after = None;
        while left > 0 {
            let scan = rows_of(inbox.id, after, left.min(STEP));
            let rows = self.ports.store.scan(scan).await?;
            let Some(last) = rows.last() else { break };
            (left, after) = (left - rows.len(), Some(records::Message::id(last)));
            for row in &rows {
                let id = MessageId { inbox: inbox.id, uuid: records::Message::id(row) };
                if matcher.since.is_some_and(|since| id.received_at() < since) {
                    return Ok(None);
                }
                let record = records::Message::of(row)?;
                if self.holds(&record, matcher).await? {
                    return Ok(Some((id, record)));
                }
            }
        }
        Ok(None)
    }

    /// A message whose announcement matches, unless it is gone already.
    async fn candidate(
        &self,
        inbox: &records::Inbox,
        id: MessageId,
        matcher: &Matcher,
    ) -> Result<Option<records::Message>> {
        let row = self.ports.store.get(&records::Message::row(id)).await?;
        let Some(row) = row else { return Ok(None) };
        debug_assert_eq!(id.inbox, inbox.id);
        let record = records::Message::of(&row)?;
        Ok(self.holds(&record, matcher).await?.then_some(record))
    }

    async fn holds(&self, record: &records::Message, matcher: &Matcher) -> Result<bool> {
        let Parties { from, to } = Parties::of(record);
        if !matcher.matches(&from, &to, &record.subject) {
            return Ok(false);
        }
        Ok(!matcher.has_code || self.has_code(record).await?)
    }

    async fn near_misses(
        &self,
        inbox: &records::Inbox,
        matcher: &Matcher,
    ) -> Result<Vec<NearMiss>> {
        let rows = self.ports.store.scan(rows_of(inbox.id, None, NEAR_ROWS)).await?;
        let mut misses = Vec::new();
        for row in &rows {
            let id = MessageId { inbox: inbox.id, uuid: records::Message::id(row) };
            if misses.len() == NEAR_MISSES || self.now().since(id.received_at()) > NEAR_AGE {
                break;
            }
            let record = records::Message::of(row)?;
            misses.extend(self.near_miss(id, record, matcher).await?);
        }
        Ok(misses)
    }

    async fn near_miss(
        &self,
        id: MessageId,
        record: records::Message,
        matcher: &Matcher,
    ) -> Result<Option<NearMiss>> {
        let Parties { from, to } = Parties::of(&record);
        let mut failures = matcher.failures(&from, &to, &record.subject);
        if let Some(since) = matcher.since.filter(|since| id.received_at() < *since) {
            failures.push(format!("received at {}, before {since}", id.received_at()));
        }
        if matcher.has_code && !self.has_code(&record).await? {
            failures.push("no one-time code was found".to_owned());
        }
        let why = failures.pop().filter(|_| failures.is_empty());
        Ok(why.map(|why| NearMiss { id, subject: record.subject, to, why }))
    }
}

/// Sleeps until something may have changed.
async fn wake(
    signals: &mut SignalStream,
    inbox: InboxId,
    matcher: &Matcher,
    deadline: Instant,
    gap_until: &mut Option<Instant>,
) -> Wake {
    loop {
        let now = Instant::now();
        if now >= deadline {
            return Wake::Deadline;
        }
        let poll = if gap_until.is_some_and(|until| now < until) { POLL_AFTER_GAP } else { POLL };
        match timeout_at(deadline.min(now + poll), signals.next()).await {
            Ok(Some(Signal::Event(event))) => match &*event {
                LiveEvent::MessageCreated { id, from, to, subject }
                    if matcher.matches(from, to, subject) =>
                {
                    let id = MessageId { inbox, uuid: *id };
                    if matcher.since.is_none_or(|since| id.received_at() >= since) {
                        return Wake::Candidate(id);
                    }
                }
                LiveEvent::InboxDeleted => return Wake::Gone,
                _ => {}
            },
            Ok(Some(Signal::Gap)) => {
                *gap_until = Some(now + GAP_LASTS);
                return Wake::Look;
            }
            // The bus is gone: what is left is to look now and then.
            Ok(None) => {
                *signals = futures_util::stream::pending().boxed();
                *gap_until = Some(deadline);
                return Wake::Look;
            }
            Err(_elapsed) if Instant::now() >= deadline => return Wake::Deadline,
            Err(_elapsed) => return Wake::Look,
        }
    }
}
