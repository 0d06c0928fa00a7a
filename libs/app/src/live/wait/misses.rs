//! The near misses of a wait that ends without a message.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use trapline_model::{MessageId, NearMiss};
use trapline_store::records;

use crate::{
    Result,
    filter::{Matcher, Parties},
    live::LiveUpdates,
    message_scans::message_rows,
};

/// Near misses of one answer.
const MAX_MISSES: usize = 5;
/// Messages that are looked at.
const MAX_ROWS: usize = 100;
/// Older messages are no near misses.
const MAX_AGE: Duration = Duration::from_mins(5);
/// How long the search for near misses may take: the client has waited long enough.
const TIMEOUT: Duration = Duration::from_millis(500);

impl LiveUpdates {
    /// Messages of the last minutes that failed one filter only: those that are found quickly.
    pub(super) async fn near_misses(
        &self,
        inbox: &records::Inbox,
        matcher: &Matcher,
    ) -> Result<Vec<NearMiss>> {
        let deadline = Instant::now() + TIMEOUT;
        let rows = self.store.scan(message_rows(inbox.id, None, MAX_ROWS)).await?;
        let mut misses = Vec::new();
        for row in &rows {
            let id = MessageId { inbox: inbox.id, uuid: records::Message::id(row) };
            if misses.len() == MAX_MISSES || self.clock.now().since(id.received_at()) > MAX_AGE {
                break;
            }
            let record = records::Message::of(row)?;
            let Ok(miss) = timeout_at(deadline, self.near_miss(id, record, matcher)).await else {
                break;
            };
            misses.extend(miss?);
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
        // A second failure makes it no near miss, whatever is in the message.
        if matcher.has_code && failures.len() < 2 && !self.messages.has_code(&record).await? {
            failures.push("no one-time code was found".to_owned());
        }
        let why = failures.pop().filter(|_| failures.is_empty());
        Ok(why.map(|why| NearMiss { id, subject: record.subject, to, why }))
    }
}
