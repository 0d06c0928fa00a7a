//! The rows of a delivery: its state, its payload, and its bucket of ten minutes in the log.

use std::time::Duration;

use trapline_model::{DeliveryId, DeliveryStatus, EventName, MessageId, Time, WebhookId};
use trapline_store::{
    Op, PortError, When, load,
    records::{Delivery, DeliveryBucket, DeliveryPayload},
};

use super::Webhooks;
use crate::Result;

/// Buckets that are remembered because this process wrote a row for them.
pub(super) const BUCKET_CAPACITY: u64 = 100_000;

impl Webhooks {
    pub(super) async fn load_delivery(
        &self,
        webhook: WebhookId,
        id: DeliveryId,
    ) -> Result<Option<Delivery>> {
        let found = load::<Delivery>(&*self.store, &Delivery::row(webhook, id)).await?;
        Ok(found.map(|(found, _)| found))
    }

    /// The payload of a delivery; `None` once it has expired.
    pub(super) async fn load_payload(&self, delivery: &Delivery) -> Result<Option<String>> {
        let row = DeliveryPayload::row(delivery.webhook, delivery.id);
        let found = self.store.get(&row).await?;
        let found = found.and_then(|row| self.rows.decode::<DeliveryPayload>(&row));
        Ok(found.map(|found| found.payload))
    }

    /// The writes of what does not change about a new delivery.
    pub(super) fn payload_rows(&self, payload: &DeliveryPayload) -> Result<Vec<Op>, PortError> {
        let (now, made) = (self.clock.now(), Time::of_uuid(payload.id.0));
        let mut ops = vec![Op::put(payload, Some(log_ttl(made, now)), When::Always)?];
        let bucket = DeliveryBucket { webhook: payload.webhook, bucket: Delivery::bucket(made) };
        if !self.buckets.contains_key(&bucket) {
            // A row of the bucket may be as young as the bucket's end.
            ops.push(Op::put(&bucket, Some(log_ttl(made, now) + Delivery::BUCKET), When::Always)?);
        }
        Ok(ops)
    }

    /// The writes of a new delivery.
    pub(crate) fn new_delivery_rows(
        &self,
        delivery: &Delivery,
        payload: &DeliveryPayload,
    ) -> Result<Vec<Op>, PortError> {
        let mut ops = self.payload_rows(payload)?;
        ops.push(put(delivery, self.clock.now())?);
        Ok(ops)
    }

    /// Notes that the bucket of a delivery has a row by now.
    pub(crate) fn bucket_written(&self, delivery: &Delivery) {
        let bucket = Delivery::bucket(delivery.created_at());
        self.buckets.insert(DeliveryBucket { webhook: delivery.webhook, bucket }, ());
    }
}

/// A delivery without an attempt.
pub(super) fn new_delivery(
    id: DeliveryId,
    webhook: WebhookId,
    event: EventName,
    message: Option<MessageId>,
) -> Delivery {
    Delivery {
        id,
        webhook,
        event,
        message,
        status: DeliveryStatus::Pending,
        http_status: None,
        error: None,
        attempts: 0,
        duration_ms: None,
        next_attempt_at: Some(Time::of_uuid(id.0)),
        completed_at: None,
        redelivery_of: None,
    }
}

/// The write of a delivery's state, with what is left of its time in the log.
pub(super) fn put(delivery: &Delivery, now: Time) -> Result<Op, PortError> {
    Op::put(delivery, Some(log_ttl(delivery.created_at(), now)), When::Always)
}

fn log_ttl(made: Time, now: Time) -> Duration {
    made.after(Delivery::KEPT).since(now).max(Duration::from_millis(1))
}
