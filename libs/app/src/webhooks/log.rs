//! The delivery log of a webhook.

use futures_util::future::try_join_all;
use trapline_model::{Delivery, Principal, WebhookId};
use trapline_store::records::{self, DeliveryBucket};

use super::Webhooks;
use crate::{Result, rows::Pages};

/// Buckets of the log that are read at the same time, each for as many rows as are still wanted.
const BUCKETS_AT_ONCE: usize = 8;

impl Webhooks {
    /// The newest deliveries of the last 30 days, newest first; `limit` is checked at the edge.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such webhook, and when the store does not answer.
    pub async fn deliveries(
        &self,
        by: &Principal,
        id: WebhookId,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let team = by.team;
        let (hook, _) = self.versioned_hook(team, id).await?;
        let log = self.newest_deliveries(hook.id, limit).await?;
        Ok(log.into_iter().map(present).collect())
    }

    async fn newest_deliveries(
        &self,
        id: WebhookId,
        limit: usize,
    ) -> Result<Vec<records::Delivery>> {
        let (mut log, mut before) = (Vec::new(), i64::MAX);
        while log.len() < limit {
            // The newest bucket alone mostly holds enough.
            let at_once = if log.is_empty() { 1 } else { BUCKETS_AT_ONCE };
            let buckets = DeliveryBucket::before(id, before, at_once);
            let buckets = self.store.scan(buckets).await?;
            let buckets: Vec<_> = buckets.iter().filter_map(DeliveryBucket::bucket_of).collect();
            let Some(last) = buckets.last() else { break };
            before = *last;
            let wanted = limit - log.len();
            let found = buckets.iter().map(|bucket| self.deliveries_in(id, *bucket, wanted));
            log.extend(try_join_all(found).await?.into_iter().flatten());
        }
        log.truncate(limit);
        Ok(log)
    }

    /// The newest deliveries of one bucket; a row that does not decode is left out.
    async fn deliveries_in(
        &self,
        id: WebhookId,
        bucket: i64,
        wanted: usize,
    ) -> Result<Vec<records::Delivery>> {
        let scan = records::Delivery::of_bucket(id, bucket, wanted);
        let (mut found, mut pages) = (Vec::new(), Pages::of(&*self.store, scan));
        while found.len() < wanted
            && let Some(rows) = pages.next().await?
        {
            found.extend(rows.iter().filter_map(|row| self.rows.decode(row)));
        }
        Ok(found)
    }
}

/// The delivery as its readers see it.
pub(super) fn present(delivery: records::Delivery) -> Delivery {
    Delivery {
        created_at: delivery.created_at(),
        id: delivery.id,
        webhook_id: delivery.webhook,
        event: delivery.event,
        message_id: delivery.message,
        status: delivery.status,
        http_status: delivery.http_status,
        error: delivery.error,
        attempts: delivery.attempts,
        duration_ms: delivery.duration_ms,
        next_attempt_at: delivery.next_attempt_at,
        completed_at: delivery.completed_at,
        redelivery_of: delivery.redelivery_of,
    }
}
