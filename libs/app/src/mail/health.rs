//! Whether mail of the service itself gets out. Reasons are fixed words with counts: whoever may read
//! them need not be trusted with an address.

use std::time::Duration;

use trapline_model::Time;
use trapline_store::{
    Lane, Record as _, Row, Scan,
    records::{MailFailure, MailSend},
};

use super::OutboundMail;
use crate::Result;

/// How long a mail that was given up is a reason to worry.
const GIVEN_UP_WINDOW: Duration = Duration::from_mins(30);
/// How late the oldest waiting mail may be.
const MAX_LATENESS: Duration = Duration::from_mins(10);
/// Sends within [`FAILURE_WINDOW`] that failed one after the other, with none that went well in
/// [`SUCCESS_WINDOW`]. What happened before says nothing about the relay as it is now.
const FAILURE_STREAK: usize = 5;
const FAILURE_WINDOW: Duration = Duration::from_hours(1);
const SUCCESS_WINDOW: Duration = Duration::from_mins(10);
/// The most rows of a day that a check reads.
const MAX_ROWS: usize = 1_000;

/// Reads a day from a time on.
type OnDay = fn(Time, Time, usize) -> Scan;

/// What the check of outbound mail found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailHealth {
    /// Why mail does not get out; empty when it does.
    pub reasons: Vec<String>,
}

impl OutboundMail {
    /// Checks whether mails were given up lately, wait for too long, or keep failing.
    ///
    /// # Errors
    ///
    /// When the store or the queue does not answer.
    pub async fn health(&self) -> Result<MailHealth> {
        let mut reasons = Vec::new();
        let exhausted = self.given_up().await?;
        if exhausted > 0 {
            reasons.push(format!("exhausted:{exhausted}"));
        }
        if let Some(late) =
            self.oldest_overdue(Lane::Mail).await?.filter(|late| *late > MAX_LATENESS)
        {
            reasons.push(format!("oldest_overdue_s:{}", late.as_secs()));
        }
        if let Some(failures) = self.failures_in_a_row().await? {
            reasons.push(format!("consecutive_failures:{failures}"));
        }
        Ok(MailHealth { reasons })
    }

    async fn given_up(&self) -> Result<usize> {
        Ok(self.rows_of_last(GIVEN_UP_WINDOW, MailFailure::on_day).await?.len())
    }

    /// How many of the newest sends failed, if that is a pattern.
    async fn failures_in_a_row(&self) -> Result<Option<usize>> {
        let newest = self.rows_of_last(FAILURE_WINDOW, MailSend::on_day).await?;
        let sends = newest.iter().map(MailSend::of).collect::<Result<Vec<_>, _>>()?;
        let since = self.clock.now().before(SUCCESS_WINDOW);
        let failures = sends.iter().take_while(|send| !send.ok).count();
        let went_well = sends.iter().any(|send| send.ok && send.at >= since);
        Ok((failures >= FAILURE_STREAK && !went_well).then_some(failures))
    }

    /// The rows of the last while, newest first; that may begin on the day before.
    async fn rows_of_last(&self, last: Duration, on_day: OnDay) -> Result<Vec<Row>> {
        let (now, since) = (self.clock.now(), self.clock.now().before(last));
        let mut rows = self.store.scan(on_day(now, since, MAX_ROWS)).await?;
        let earlier = on_day(since, since, MAX_ROWS);
        if earlier.partition != on_day(now, since, MAX_ROWS).partition {
            rows.extend(self.store.scan(earlier).await?);
        }
        Ok(rows)
    }

    /// For how long the oldest job of a lane that is not done has been due, over a minute.
    async fn oldest_overdue(&self, lane: Lane) -> Result<Option<Duration>> {
        Ok(self.queue.stats(lane).await?.oldest_overdue)
    }
}
