//! The delivery log, redelivery, and the test event.

use std::time::Duration;

use futures_util::future::try_join_all;
use trapline_model::{
    Address, Delivery, DeliveryId, DeliveryStatus, EventName, InboxId, MessageId, TeamId, WebhookId,
};
use trapline_store::{
    Rate, Record as _, Row, load,
    records::{self, Chore},
};

use super::{
    attempt::DISABLED,
    fan_out::Due,
    payload::{Told, payload},
    record::settle,
};
use crate::{App, Error, Result};

/// Hours of the log that are read at the same time.
const HOURS_AT_ONCE: i64 = 24;
const TESTS: Rate = Rate { burst: 1, per: Duration::from_secs(2) };

impl App {
    /// The newest deliveries of the last 30 days, newest first; `limit` is checked at the edge.
    pub async fn deliveries(
        &self,
        team: TeamId,
        id: WebhookId,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let (hook, _) = self.versioned_hook(team, id).await?;
        let now = self.now();
        // The first mail that it was told of may have come just before it was there.
        let made = hook.created_at.before(Duration::from_hours(1));
        let last = Chore::hour(now.before(records::Delivery::KEPT).max(made));
        let mut hour = Chore::hour(now);
        let mut rows = self.log_of(id, hour, hour, limit).await?;
        while rows.len() < limit && hour > last {
            let from = (hour - HOURS_AT_ONCE).max(last);
            rows.extend(self.log_of(id, from, hour - 1, limit).await?);
            hour = from;
            if rows.is_empty() {
                // A webhook that has been silent for a day: go where its latest attempt was.
                let latest = self.webhooks.statuses.of(&hook).await?;
                let Some(latest) = latest else { break };
                hour = hour.min(Chore::hour(latest.at) + 1);
            }
        }
        rows.truncate(limit);
        rows.iter().map(|row| Ok(present(records::Delivery::of(row)?))).collect()
    }

    /// The rows of the hours `from` to `to`, newest first.
    async fn log_of(&self, id: WebhookId, from: i64, to: i64, limit: usize) -> Result<Vec<Row>> {
        let hours = (from..=to).rev();
        let scans = hours.map(|hour| records::Delivery::of_hour(id, hour, limit));
        let found = try_join_all(scans.map(|scan| self.ports.store.scan(scan))).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Sends an earlier delivery's payload again, as a delivery of its own.
    pub async fn redeliver(
        &self,
        team: TeamId,
        id: WebhookId,
        delivery: DeliveryId,
    ) -> Result<Delivery> {
        let (hook, _) = self.versioned_hook(team, id).await?;
        let row = records::Delivery::row(hook.id, delivery);
        let (old, _) =
            load::<records::Delivery>(&*self.ports.store, &row).await?.ok_or(Error::NotFound)?;
        let new = records::Delivery {
            redelivery_of: Some(old.id),
            ..fresh(DeliveryId(self.ids.next()), id, old.event, old.message, old.payload)
        };
        self.start_deliveries(vec![Due { team, delivery: new.clone(), stored: false }]).await?;
        Ok(present(new))
    }

    /// Calls the webhook once, now, and returns how it went. At most once in 2 s per webhook.
    pub async fn test_webhook(&self, team: TeamId, id: WebhookId) -> Result<Delivery> {
        let (hook, _) = self.versioned_hook(team, id).await?;
        let caller = self.webhooks.caller.get().ok_or(Error::Unavailable)?;
        self.take_all("webhook-test", &id.to_string(), &[TESTS]).await?;
        let payload = self.test_payload(&hook).await?;
        let id = DeliveryId(self.ids.next());
        let mut delivery = fresh(id, hook.id, EventName::WebhookTest, None, payload);
        if !hook.enabled {
            return Ok(present(self.refuse(team, delivery, DISABLED).await?));
        }
        let attempt = self.attempt(&hook, &delivery, None)?.ok_or(Error::Unavailable)?;
        let outcome = caller.call(&attempt).await;
        settle(&mut delivery, 1, &outcome, self.now());
        if delivery.status == DeliveryStatus::Retrying {
            // Whoever asked for a test has the answer already.
            delivery.status = DeliveryStatus::Failed;
            (delivery.next_attempt_at, delivery.completed_at) = (None, Some(self.now()));
        }
        self.put_delivery(&delivery).await?;
        self.note(team, &delivery, attempt.at).await?;
        Ok(present(delivery))
    }

    /// Like that of a mail which the webhook would be told of; its message is not there.
    async fn test_payload(&self, hook: &records::Webhook) -> Result<String> {
        let inboxes = match hook.inbox {
            Some(id) => self.inbox_record(hook.team, id).await.map(|inbox| vec![inbox]),
            None => self.inbox_records(hook.team).await,
        };
        let inbox = match inboxes {
            Ok(inboxes) => inboxes.into_iter().next(),
            Err(Error::NotFound) => None,
            Err(error) => return Err(error),
        };
        let (inbox, name) = inbox.map_or_else(
            || (hook.inbox.unwrap_or(InboxId(self.ids.next())), "Inbox".to_owned()),
            |inbox| (inbox.id, inbox.name),
        );
        let from = format!("hello@{}", self.settings.mail_domain);
        let to = format!("test@{}", self.settings.mail_domain);
        let told = Told {
            inbox,
            inbox_name: &name,
            message: MessageId { inbox, uuid: self.ids.next() },
            subject: "A test of your webhook",
            from: Some(&Address { address: from, name: "Trapline".to_owned() }),
            to: &[Address { address: to.clone(), name: String::new() }],
            envelope_to: &[to],
        };
        Ok(payload(EventName::WebhookTest, told, &self.settings.base_url)?)
    }
}

/// A delivery of which no attempt was made.
pub(super) fn fresh(
    id: DeliveryId,
    webhook: WebhookId,
    event: EventName,
    message: Option<MessageId>,
    payload: String,
) -> records::Delivery {
    records::Delivery {
        id,
        webhook,
        event,
        message,
        payload,
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
