//! Creates the deliveries of arrived mail. Doing it twice creates each delivery once.

use std::collections::{BTreeMap, HashMap};

use futures_util::future::try_join_all;
use trapline_model::{DeliveryId, DeliveryStatus, EventName, InboxId, MessageId};
use trapline_store::{
    Row,
    records::{Delivery, DeliveryPayload, Message, Webhook},
};
use uuid::Uuid;

use super::{
    Webhooks,
    backlog::WebhookRef,
    payload::{EventPayload, payload},
    rows::new_delivery,
};
use crate::{Error, Result, ids, receive::Arrival};

/// Messages, and their deliveries, that are created together; this bounds the memory of their payloads.
const MESSAGES_PER_BATCH: usize = 64;
const DELIVERIES_PER_BATCH: usize = 512;
/// Deliveries of one job, and the bytes of their payloads; a job has at least one delivery.
const DELIVERIES_PER_JOB: usize = 64;
const BYTES_PER_JOB: usize = 256 << 10;

/// A delivery that needs rows and a job.
pub(super) struct NewDelivery {
    pub(super) delivery: Delivery,
    pub(super) payload: String,
    /// Whether its rows are stored; it may still lack a job.
    pub(super) is_stored: bool,
}

/// An inbox in which mail arrived, and the webhooks that want it.
struct InterestedHooks {
    inbox_name: String,
    hooks: Vec<Webhook>,
}

impl Webhooks {
    /// Starts the deliveries that arrived mail calls for.
    pub(crate) async fn start_deliveries_of(&self, arrivals: &[Arrival]) -> Result<()> {
        let interested =
            try_join_all(arrivals.iter().map(|arrival| self.interested_hooks(arrival))).await?;
        let (mut messages, mut most) = (Vec::new(), 1);
        for (arrival, interested_hooks) in arrivals.iter().zip(&interested) {
            let Some(interested_hooks) = interested_hooks else { continue };
            most = most.max(interested_hooks.hooks.len());
            let ids = arrival.messages.iter();
            messages.extend(
                ids.map(|uuid| (MessageId { inbox: arrival.inbox, uuid: *uuid }, interested_hooks)),
            );
        }
        let at_once = (DELIVERIES_PER_BATCH / most).clamp(1, MESSAGES_PER_BATCH);
        for batch in messages.chunks(at_once) {
            let new = self.deliveries_of(batch).await?;
            self.start_deliveries(new).await?;
        }
        Ok(())
    }

    /// Stores deliveries, by webhook, and the jobs that send them.
    pub(super) async fn start_deliveries(
        &self,
        new: Vec<(WebhookRef, Vec<NewDelivery>)>,
    ) -> Result<()> {
        let (mut rows, mut jobs, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for (webhook_ref, new) in new {
            let mut job = (Vec::new(), 0);
            for NewDelivery { delivery, payload, is_stored } in new {
                if job.0.len() == DELIVERIES_PER_JOB || job.1 + payload.len() > BYTES_PER_JOB {
                    jobs.push((webhook_ref, std::mem::take(&mut job).0));
                }
                job.0.push(delivery.id);
                job.1 += payload.len();
                if !is_stored {
                    let (webhook, id) = (webhook_ref.webhook, delivery.id);
                    let payload = DeliveryPayload { webhook, id, payload };
                    rows.extend(self.new_delivery_rows(&delivery, &payload)?);
                    written.push(delivery);
                }
            }
            jobs.push((webhook_ref, job.0));
        }
        let now = self.clock.now();
        let jobs = jobs.into_iter().filter(|(_, deliveries)| !deliveries.is_empty());
        let jobs = jobs
            .map(|(webhook_ref, deliveries)| self.new_deliveries_job(webhook_ref, deliveries, now));
        self.jobs.schedule_with(rows, &jobs.collect::<Result<Vec<_>, _>>()?).await?;
        for delivery in &written {
            self.bucket_written(delivery);
        }
        Ok(())
    }

    /// The webhooks that want mail of an inbox; `None` when there is none, the plan has no webhooks, or the
    /// inbox is deleted.
    async fn interested_hooks(&self, arrival: &Arrival) -> Result<Option<InterestedHooks>> {
        let hooks = self.cache.of(arrival.team).await?;
        let hooks: Vec<_> =
            hooks.iter().filter(|hook| hook.wants(arrival.inbox)).cloned().collect();
        if hooks.is_empty() || !self.are_in_plan(arrival.team).await? {
            return Ok(None);
        }
        match self.inboxes.record(arrival.team, arrival.inbox).await {
            Ok(inbox) => Ok(Some(InterestedHooks { inbox_name: inbox.name, hooks })),
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The deliveries of messages that have not been tried.
    async fn deliveries_of(
        &self,
        messages: &[(MessageId, &InterestedHooks)],
    ) -> Result<Vec<(WebhookRef, Vec<NewDelivery>)>> {
        let of = |id: MessageId, hook: &Webhook| DeliveryId(ids::of_mail(id, hook.id.0.as_bytes()));
        let rows = messages.iter().map(|(id, _)| Message::row(*id)).collect();
        let known = messages.iter().flat_map(|(id, interested_hooks)| {
            interested_hooks.hooks.iter().map(|hook| Delivery::row(hook.id, of(*id, hook)))
        });
        let (rows, known) =
            tokio::try_join!(self.rows.find(rows), self.rows.find(known.collect::<Vec<_>>()))?;
        let mut found: BTreeMap<Uuid, (WebhookRef, Vec<NewDelivery>)> = BTreeMap::new();
        for (id, interested_hooks) in messages {
            let Some(payload) = self.payload_of(*id, interested_hooks, &rows)? else { continue };
            for hook in &interested_hooks.hooks {
                let delivery = of(*id, hook);
                let known = known.get(&delivery.0).map(|row| self.rows.decode::<Delivery>(row));
                let is_stored = known.is_some();
                let delivery = match known {
                    // Tried, or not to be read.
                    Some(known) => match known {
                        Some(known) if known.status == DeliveryStatus::Pending => known,
                        _ => continue,
                    },
                    None => new_delivery(delivery, hook.id, EventName::MessageReceived, Some(*id)),
                };
                let of_hook = found.entry(hook.id.0).or_insert((hook.into(), Vec::new()));
                of_hook.1.push(NewDelivery { delivery, payload: payload.clone(), is_stored });
            }
        }
        Ok(found.into_values().collect())
    }

    /// What is sent of a message that is there and can be read.
    fn payload_of(
        &self,
        id: MessageId,
        interested_hooks: &InterestedHooks,
        rows: &HashMap<Uuid, Row>,
    ) -> Result<Option<String>> {
        let message = rows.get(&id.uuid).and_then(|row| self.rows.decode_message(row));
        let Some(message) = message else { return Ok(None) };
        let event = event_payload(id.inbox, &interested_hooks.inbox_name, id, &message);
        Ok(Some(payload(EventName::MessageReceived, event, &self.settings.base_url)?))
    }
}

fn event_payload<'a>(
    inbox: InboxId,
    inbox_name: &'a str,
    id: MessageId,
    message: &'a Message,
) -> EventPayload<'a> {
    EventPayload {
        inbox,
        inbox_name,
        message: id,
        subject: &message.subject,
        from: message.from.as_ref(),
        to: &message.to,
        envelope_to: &message.envelope.to,
    }
}
