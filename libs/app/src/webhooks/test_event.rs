//! The test event: one call of a webhook, made at once, whose outcome is the answer.

use std::time::Duration;

use trapline_model::{
    Address, Delivery, DeliveryId, DeliveryStatus, EventName, InboxId, MessageId, Principal,
    WebhookId,
};
use trapline_store::{
    Rate,
    records::{self, DeliveryPayload},
};

use super::{
    Webhooks,
    attempt::DISABLED,
    log::present,
    payload::{EventPayload, payload},
    record::apply_outcome,
    rows::new_delivery,
};
use crate::{Error, PlanFeature, Result, rows::write_all};

const TEST_RATE: Rate = Rate { burst: 1, per: Duration::from_secs(2) };

impl Webhooks {
    /// Calls the webhook once, now, and returns how it went. At most once in 2 s per webhook.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such webhook, [`Error::FeatureUnavailable`] when the plan
    /// has no webhooks, [`Error::TooMany`] for a second test within 2 s, [`Error::Unavailable`] where
    /// webhooks cannot be called, and when the store does not answer.
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

    /// The payload of a mail that the webhook would be told of; its message does not exist.
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
