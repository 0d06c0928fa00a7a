//! The delivery log, redelivery, and the test event.

use std::time::Duration;

use futures_util::future::try_join_all;
use trapline_model::{
    Address, Delivery, DeliveryId, DeliveryStatus, EventName, InboxId, MessageId, Principal,
    WebhookId,
};
use trapline_store::{
    Rate,
    records::{self, DeliveryBucket, DeliveryPayload},
};

use super::{
    Webhooks,
    attempt::DISABLED,
    fan_out::NewDelivery,
    payload::{EventPayload, payload},
    record::apply_outcome,
};
use crate::{Error, PlanFeature, Result, rows::write_all};

/// Parts of the log that are read at the same time; none of them for more rows than are wanted.
const BUCKETS_AT_ONCE: usize = 8;
const TEST_RATE: Rate = Rate { burst: 1, per: Duration::from_secs(2) };

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
            // Mostly what is newest is enough.
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

    /// The newest of one bucket; what cannot be read is left out alone.
    async fn deliveries_in(
        &self,
        id: WebhookId,
        bucket: i64,
        wanted: usize,
    ) -> Result<Vec<records::Delivery>> {
        let (mut found, mut scan) = (Vec::new(), records::Delivery::of_bucket(id, bucket, wanted));
        loop {
            let rows = self.store.scan(scan.clone()).await?;
            found.extend(rows.iter().filter_map(|row| self.rows.decode(row)));
            let is_last = rows.len() < scan.limit;
            match rows.last() {
                Some(last) if !is_last && found.len() < wanted => {
                    scan.after = Some(last.sort.clone());
                }
                _ => return Ok(found),
            }
        }
    }

    /// Sends an earlier delivery's payload again, as a delivery of its own.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such webhook, or that no such delivery,
    /// [`Error::FeatureUnavailable`] when the plan has no webhooks, and when the store does not answer.
    pub async fn redeliver(
        &self,
        by: &Principal,
        id: WebhookId,
        delivery: DeliveryId,
    ) -> Result<Delivery> {
        let team = by.team;
        let (hook, _) = self.versioned_hook(team, id).await?;
        self.plans.require(team, PlanFeature::Webhooks).await?;
        let old = self.load_delivery(hook.id, delivery).await?.ok_or(Error::NotFound)?;
        let payload = self.load_payload(&old).await?.ok_or(Error::NotFound)?;
        let new = records::Delivery {
            redelivery_of: Some(old.id),
            ..new_delivery(DeliveryId(self.ids.next()), id, old.event, old.message)
        };
        let started = NewDelivery { delivery: new.clone(), payload, is_stored: false };
        self.start_deliveries(vec![((&hook).into(), vec![started])]).await?;
        Ok(present(new))
    }

    /// Calls the webhook once, now, and returns how it went. At most once in 2 s per webhook.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such webhook, [`Error::FeatureUnavailable`] when the plan
    /// has no webhooks, [`Error::TooMany`] for a second test within 2 s, [`Error::Unavailable`] where webhooks cannot be called, and when the store does not
    /// answer.
    pub async fn test(&self, by: &Principal, id: WebhookId) -> Result<Delivery> {
        let team = by.team;
        let (hook, _) = self.versioned_hook(team, id).await?;
        self.plans.require(team, PlanFeature::Webhooks).await?;
        let sender = self.sender.get().ok_or(Error::Unavailable)?;
        self.limits.take_all("webhook-test", &id.to_string(), &[TEST_RATE]).await?;
        let payload = self.test_payload(&hook).await?;
        let id = DeliveryId(self.ids.next());
        let mut delivery = new_delivery(id, hook.id, EventName::WebhookTest, None);
        let row = DeliveryPayload { webhook: hook.id, id, payload: payload.clone() };
        write_all(&*self.store, self.payload_rows(&row)?).await?;
        self.bucket_written(&delivery);
        if !hook.enabled {
            return Ok(present(self.refuse(team, delivery, DISABLED).await?));
        }
        let request = self.request(&hook, &delivery, payload.into())?.ok_or(Error::Unavailable)?;
        let outcome = sender.send(&request).await;
        apply_outcome(&mut delivery, 1, &outcome, self.clock.now());
        if delivery.status == DeliveryStatus::Retrying {
            // Whoever asked for a test has the answer already.
            delivery.status = DeliveryStatus::Failed;
            (delivery.next_attempt_at, delivery.completed_at) = (None, Some(self.clock.now()));
        }
        self.put_delivery(&delivery).await?;
        self.note(team, &delivery, request.at).await?;
        Ok(present(delivery))
    }

    /// Like that of a mail which the webhook would be told of; its message is not there.
    async fn test_payload(&self, hook: &records::Webhook) -> Result<String> {
        let inbox = match hook.inbox {
            Some(id) => self.inboxes.record(hook.team, id).await.map(Some),
            None => self.inboxes.some_of(hook.team).await,
        };
        let inbox = match inbox {
            Err(Error::NotFound) => None,
            found => found?,
        };
        let (inbox, name) = inbox.map_or_else(
            || (hook.inbox.unwrap_or(InboxId(self.ids.next())), "Inbox".to_owned()),
            |inbox| (inbox.id, inbox.name),
        );
        let from = format!("hello@{}", self.settings.mail_domain);
        let to = format!("test@{}", self.settings.mail_domain);
        let event = EventPayload {
            inbox,
            inbox_name: &name,
            message: MessageId { inbox, uuid: self.ids.next() },
            subject: "A test of your webhook",
            from: Some(&Address { address: from, name: "Trapline".to_owned() }),
            to: &[Address { address: to.clone(), name: String::new() }],
            envelope_to: &[to],
        };
        Ok(payload(EventName::WebhookTest, event, &self.settings.base_url)?)
    }
}

/// A delivery of which no attempt was made.
pub(super) fn new_delivery(
    id: DeliveryId,
    webhook: WebhookId,
    event: EventName,
    message: Option<MessageId>,
) -> records::Delivery {
    records::Delivery {
        id,
        webhook,
        event,
        message,
        status: DeliveryStatus::Pending,
        http_status: None,
        error: None,
        attempts: 0,
        duration_ms: None,
        next_attempt_at: Some(trapline_model::Time::of_uuid(id.0)),
        completed_at: None,
        redelivery_of: None,
    }
}

fn present(delivery: records::Delivery) -> Delivery {
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
