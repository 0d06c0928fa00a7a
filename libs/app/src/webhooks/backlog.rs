//! The backlog of a webhook: deliveries that wait for an attempt. One job works on it, however many there
//! are; see [`schedule`](super::schedule) for who sees to it that there is one.

use std::time::Duration;

use futures_util::future::try_join_all;
use trapline_model::{DeliveryId, Time, WebhookId};
use trapline_store::{
    Job, Lane, Op, Store, Value,
    records::{BacklogEntry, Webhook},
};

use super::{
    Webhooks,
    deliver::{BacklogWork, WebhookWork},
};
use crate::{Result, jobs, rows::write_all};

/// Entries that are read together.
pub(super) const ENTRIES_PER_READ: usize = 64;
/// How much time a read spans where many entries were removed: CQL servers refuse to wade through
/// more than 100,000 of them.
const NARROW_READ_SPAN: Duration = Duration::from_secs(5);
/// Hours of a backlog that are searched together for what is due next: the longest that a delivery waits
/// for its next attempt, and more.
const HOURS_AT_ONCE: i64 = 6;
/// Hours that are searched: a clock that was ahead may have put something there.
const HOURS_SEARCHED: i64 = 24;

/// A webhook and its team.
#[derive(Debug, Clone, Copy)]
pub(super) struct WebhookRef {
    pub(super) team: trapline_model::TeamId,
    pub(super) webhook: WebhookId,
}

impl From<&Webhook> for WebhookRef {
    fn from(hook: &Webhook) -> Self {
        Self { team: hook.team, webhook: hook.id }
    }
}

impl Webhooks {
    /// Adds deliveries to their webhook's backlog. Returns when they and a job that works on them are
    /// stored.
    pub(super) async fn add_to_backlog(
        &self,
        webhook_ref: WebhookRef,
        waiting: &[(DeliveryId, Time)],
    ) -> Result<()> {
        let Some(first) = waiting.iter().map(|(_, due)| *due).min() else { return Ok(()) };
        let entries = waiting.iter().map(|(delivery, due)| {
            BacklogEntry { webhook: webhook_ref.webhook, due: *due, delivery: *delivery }.put()
        });
        write_all(&*self.store, entries.collect::<Result<Vec<Op>, _>>()?).await?;
        self.cover(webhook_ref, first).await
    }

    /// Makes sure that a job will work on stored entries, the first of which is due at `first`.
    pub(super) async fn cover(&self, webhook_ref: WebhookRef, first: Time) -> Result<()> {
        let endpoint = self.endpoints.of(webhook_ref.webhook);
        let _alone = endpoint.publishing.lock().await;
        let now = self.clock.now();
        if endpoint.schedule.covers(first, now) {
            return Ok(());
        }
        let (due, from) = (first.max(endpoint.earliest_run(now)), first.min(now));
        let id = format!("backlog:{}:{}", webhook_ref.webhook, self.ids.next());
        let backlog = BacklogWork {
            team: webhook_ref.team,
            webhook: webhook_ref.webhook,
            from,
            deferrals: 0,
        };
        self.jobs.schedule(&backlog.job(id, endpoint.lane(), due)?).await?;
        endpoint.schedule.note_planned(due, from, now);
        Ok(())
    }

    /// When the first entry is due that is due after `after`.
    pub(super) async fn next_due(&self, webhook: WebhookId, after: Time) -> Result<Option<Time>> {
        let (mut first, behind) = (BacklogEntry::hour(after), vec![Value::Int(after.millis())]);
        let last = first.saturating_add(HOURS_SEARCHED);
        while first < last {
            let scans = (first..first.saturating_add(HOURS_AT_ONCE)).map(|hour| {
                let (behind, end) = (behind.clone(), BacklogEntry::end_of(hour));
                self.store.scan(BacklogEntry::of_hour(webhook, hour, behind, end, 1))
            });
            let rows = try_join_all(scans).await?.into_iter().flatten();
            let entries = rows.filter_map(|row| BacklogEntry::of_key(webhook, &row));
            if let Some(due) = entries.map(|entry| entry.due).min() {
                return Ok(Some(due));
            }
            first = first.saturating_add(HOURS_AT_ONCE);
        }
        Ok(None)
    }
}

impl BacklogWork {
    pub(super) fn job(self, id: String, lane: Lane, due: Time) -> Result<Job> {
        Ok(jobs::job(lane, id, 1, WebhookWork::Backlog(self), due)?)
    }
}

/// Reads a backlog in the order in which it is due.
pub(super) struct BacklogReader {
    webhook: WebhookId,
    /// Where it reads on, and the last entry that was read there.
    from: Time,
    last: Option<BacklogEntry>,
    /// Longer reads failed here: too much was removed.
    is_narrow: bool,
}

impl BacklogReader {
    pub(super) fn new(webhook: WebhookId, from: Time) -> Self {
        Self { webhook, from, last: None, is_narrow: false }
    }

    /// The next entries that are due at `until` or were before; nothing if there are none.
    pub(super) async fn next(
        &mut self,
        store: &dyn Store,
        until: Time,
    ) -> Result<Vec<BacklogEntry>> {
        while self.from <= until {
            let hour = BacklogEntry::hour(self.from);
            let end = BacklogEntry::end_of(hour).min(until);
            let end = if self.is_narrow { end.min(self.from.after(NARROW_READ_SPAN)) } else { end };
            let behind = match &self.last {
                Some(last) => last.sort(),
                None => vec![Value::Int(self.from.millis().saturating_sub(1))],
            };
            let scan = BacklogEntry::of_hour(self.webhook, hour, behind, end, ENTRIES_PER_READ);
            let rows = match store.scan(scan).await {
                Err(_) if !self.is_narrow => {
                    self.is_narrow = true;
                    continue;
                }
                rows => rows?,
            };
            let entries = rows.iter().filter_map(|row| BacklogEntry::of_key(self.webhook, row));
            let entries: Vec<_> = entries.collect();
            if let Some(last) = entries.last() {
                (self.from, self.last) = (last.due, Some(*last));
                return Ok(entries);
            }
            (self.from, self.last) = (end.after(Duration::from_millis(1)), None);
        }
        Ok(Vec::new())
    }
}
