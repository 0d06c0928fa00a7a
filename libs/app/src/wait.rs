//! Waiting for a message, without a moment in which one can be missed.
//!
//! Subscribe, then look, then listen: a message is either written before the look, and found by it,
//! or announced after the subscription.

mod misses;
mod wake;

use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};
use trapline_model::{InboxId, Message, MessageId, NearMiss, TeamId};
use trapline_store::{Scan, Value, records};
use uuid::Uuid;

use crate::{
    App, Error, Filter, Result,
    feed::{behind, ends},
    filter::Matcher,
    messages::rows_of,
    metrics,
};
use wake::{Ears, Wake};

/// Rows read at a time: with the bound on a row's size this bounds the memory of a look.
const STEP: usize = 100;
/// What the last look may take when the time is over: it reads what no one announced.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// How a wait ended.
#[derive(Debug)]
pub enum Waited {
    /// The message.
    Found(Box<Message>),
    /// None came in time; these missed by one filter.
    TimedOut(Vec<NearMiss>),
}

type Found = (MessageId, records::Message);

impl App {
    /// Answers with the newest matching message of the inbox, or else with the first that arrives
    /// within `time`, which holds over reading and looking into messages as well.
    pub async fn wait(
        &self,
        team: TeamId,
        id: InboxId,
        filter: &Filter,
        time: Duration,
    ) -> Result<Waited> {
        let mut inbox = self.inbox_record(team, id).await?;
        let _parked = self.stream_permit(team)?;
        let _counted = metrics::parked_wait();
        let matcher = Matcher::new(filter);
        let until = Instant::now() + time;
        loop {
            let ends = ends(inbox.expires_at, self.now());
            let deadline = ends.map_or(until, |ends| ends.min(until));
            let waiting = Box::pin(self.wait_until(&inbox, &matcher, deadline));
            let found =
                self.shutdown.run_until_cancelled(waiting).await.ok_or(Error::Unavailable)??;
            if let Some((id, record)) = found {
                metrics::wait_ended("found");
                return Ok(Waited::Found(Box::new(self.open(id, record).await?)));
            }
            // The inbox may be over, or have been given more time.
            inbox = self.inbox_record(team, id).await?;
            if Instant::now() >= until {
                metrics::wait_ended("timed_out");
                return Ok(Waited::TimedOut(self.near_misses(&inbox, &matcher).await?));
            }
        }
    }

    async fn wait_until(
        &self,
        inbox: &records::Inbox,
        matcher: &Matcher,
        deadline: Instant,
    ) -> Result<Option<Found>> {
        let ears = Ears::new(self.ports.bus.subscribe(inbox.id).await?, inbox.id);
        // Everything before was looked at and does not match.
        let mut floor = Uuid::nil();
        let listening = self.listen(inbox, matcher, deadline, ears, &mut floor);
        let Ok(found) = timeout_at(deadline, listening).await else { return Ok(None) };
        if let Some(found) = found? {
            return Ok(Some(found));
        }
        // What no one announced is found at the latest now.
        let look = self.look(inbox, matcher, &mut floor);
        timeout(LAST_LOOK, look).await.unwrap_or(Ok(None))
    }

    /// Looks, then listens until the deadline.
    async fn listen(
        &self,
        inbox: &records::Inbox,
        matcher: &Matcher,
        deadline: Instant,
        mut ears: Ears,
        floor: &mut Uuid,
    ) -> Result<Option<Found>> {
        if let Some(found) = self.look(inbox, matcher, floor).await? {
            return Ok(Some(found));
        }
        loop {
            let wake = ears.wake(matcher, deadline).await;
            if inbox.expired(self.now()) {
                return Ok(None);
            }
            let found = match wake {
                Wake::Candidate(id) => self.candidate(id, matcher).await?,
                Wake::Look => {
                    self.inbox_record(inbox.team, inbox.id).await?;
                    self.look(inbox, matcher, floor).await?
                }
                Wake::Deadline => return Ok(None),
                Wake::Gone => return Err(Error::NotFound),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// The newest stored message after `floor` that matches. Moves the floor up where there is none.
    async fn look(
        &self,
        inbox: &records::Inbox,
        matcher: &Matcher,
        floor: &mut Uuid,
    ) -> Result<Option<Found>> {
        let mut left = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        let (mut after, mut newest) = (None, None);
        while left > 0 {
            let until = Some(vec![Value::Uuid(*floor)]);
            let scan = Scan { until, ..rows_of(inbox.id, after, left.min(STEP)) };
            let rows = self.ports.store.scan(scan).await?;
            let Some(last) = rows.last() else { break };
            (left, after) = (left - rows.len(), Some(records::Message::id(last)));
            newest = newest.or(rows.first().map(records::Message::id));
            for row in &rows {
                let id = MessageId { inbox: inbox.id, uuid: records::Message::id(row) };
                if matcher.since.is_some_and(|since| id.received_at() < since) {
                    left = 0;
                    break;
                }
                let record = records::Message::of(row)?;
                if self.holds(&record, matcher).await? {
                    return Ok(Some((id, record)));
                }
            }
        }
        // Among processes, a message may become visible after younger ones.
        *floor = newest.map_or(*floor, |newest| behind(newest).max(*floor));
        Ok(None)
    }

    /// A message whose announcement matches, unless it is gone already.
    async fn candidate(&self, id: MessageId, matcher: &Matcher) -> Result<Option<Found>> {
        let row = self.ports.store.get(&records::Message::row(id)).await?;
        let Some(row) = row else { return Ok(None) };
        let record = records::Message::of(&row)?;
        Ok(self.holds(&record, matcher).await?.then_some((id, record)))
    }

    async fn holds(&self, record: &records::Message, matcher: &Matcher) -> Result<bool> {
        Ok(self.heading_holds(record, matcher).await?
            && (!matcher.has_code || self.has_code(record).await?))
    }
}
