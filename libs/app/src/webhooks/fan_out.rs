//! From mail that arrived to deliveries. Doing it twice makes each delivery once.

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
    backlog::Owner,
    log::fresh,
    payload::{EventPayload, payload},
};
use crate::{Error, Result, ids, receive::Arrival};

/// Messages, and their deliveries, that are started together; also bounds the memory that their
/// payloads take.
const MESSAGES_AT_ONCE: usize = 64;
const DELIVERIES_AT_ONCE: usize = 512;
/// Deliveries of one job, and what they send, in bytes; one in any case.
const JOB_DELIVERIES: usize = 64;
const JOB_BYTES: usize = 256 << 10;

/// A delivery that must have rows and a job.
pub(super) struct New {
    pub(super) delivery: Delivery,
    pub(super) payload: String,
    /// Whether it has rows, and maybe no job.
    pub(super) is_stored: bool,
}

/// An inbox in which mail arrived, and who is told of it.
struct Audience {
    inbox_name: String,
    hooks: Vec<Webhook>,
}

impl Webhooks {
    /// Starts the deliveries that arrived mail calls for.
    pub(crate) async fn start_deliveries_of(&self, arrivals: &[Arrival]) -> Result<()> {
        let audiences = try_join_all(arrivals.iter().map(|arrival| self.audience(arrival))).await?;
        let (mut messages, mut most) = (Vec::new(), 1);
        for (arrival, audience) in arrivals.iter().zip(&audiences) {
            let Some(audience) = audience else { continue };
            most = most.max(audience.hooks.len());
            let ids = arrival.messages.iter();
            messages.extend(
                ids.map(|uuid| (MessageId { inbox: arrival.inbox, uuid: *uuid }, audience)),
            );
        }
        let at_once = (DELIVERIES_AT_ONCE / most).clamp(1, MESSAGES_AT_ONCE);
        for some in messages.chunks(at_once) {
            let new = self.deliveries_of(some).await?;
            self.start_deliveries(new).await?;
        }
        Ok(())
    }

    /// Stores deliveries, by webhook, and the jobs that send them.
    pub(super) async fn start_deliveries(&self, new: Vec<(Owner, Vec<New>)>) -> Result<()> {
        let (mut rows, mut jobs, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for (owner, new) in new {
            let mut job = (Vec::new(), 0);
            for New { delivery, payload, is_stored } in new {
                if job.0.len() == JOB_DELIVERIES || job.1 + payload.len() > JOB_BYTES {
                    jobs.push((owner, std::mem::take(&mut job).0));
                }
                job.0.push(delivery.id);
                job.1 += payload.len();
                if !is_stored {
                    let (webhook, id) = (owner.webhook, delivery.id);
                    let payload = DeliveryPayload { webhook, id, payload };
                    rows.extend(self.new_delivery_rows(&delivery, &payload)?);
                    written.push(delivery);
                }
            }
            jobs.push((owner, job.0));
        }
        let now = self.clock.now();
        let jobs = jobs.into_iter().filter(|(_, deliveries)| !deliveries.is_empty());
        let jobs = jobs.map(|(owner, deliveries)| self.new_deliveries_job(owner, deliveries, now));
        self.jobs.schedule_with(rows, &jobs.collect::<Result<Vec<_>, _>>()?).await?;
        for delivery in &written {
            self.bucket_written(delivery);
        }
        Ok(())
    }

    /// Nobody, when no webhook wants to know, the plan has none, or the inbox is gone and its messages with it.
    async fn audience(&self, arrival: &Arrival) -> Result<Option<Audience>> {
        let hooks = self.cache.of(arrival.team).await?;
        let hooks: Vec<_> =
            hooks.iter().filter(|hook| hook.wants(arrival.inbox)).cloned().collect();
        if hooks.is_empty() || !self.are_in_plan(arrival.team).await? {
            return Ok(None);
        }
        match self.inboxes.record(arrival.team, arrival.inbox).await {
            Ok(inbox) => Ok(Some(Audience { inbox_name: inbox.name, hooks })),
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The deliveries of messages that have not been tried.
    async fn deliveries_of(
        &self,
        messages: &[(MessageId, &Audience)],
    ) -> Result<Vec<(Owner, Vec<New>)>> {
        let of = |id: MessageId, hook: &Webhook| DeliveryId(ids::of_mail(id, hook.id.0.as_bytes()));
        let rows = messages.iter().map(|(id, _)| Message::row(*id)).collect();
        let known = messages.iter().flat_map(|(id, audience)| {
            audience.hooks.iter().map(|hook| Delivery::row(hook.id, of(*id, hook)))
        });
        let (rows, known) =
            tokio::try_join!(self.rows.find(rows), self.rows.find(known.collect::<Vec<_>>()))?;
        let mut found: BTreeMap<Uuid, (Owner, Vec<New>)> = BTreeMap::new();
        for (id, audience) in messages {
            let Some(payload) = self.payload_of(*id, audience, &rows)? else { continue };
            for hook in &audience.hooks {
                let delivery = of(*id, hook);
                let known = known.get(&delivery.0).map(|row| self.rows.decode::<Delivery>(row));
                let is_stored = known.is_some();
                let delivery = match known {
                    // Tried, or not to be read.
                    Some(known) => match known {
                        Some(known) if known.status == DeliveryStatus::Pending => known,
                        _ => continue,
                    },
                    None => fresh(delivery, hook.id, EventName::MessageReceived, Some(*id)),
                };
                let of_hook = found.entry(hook.id.0).or_insert((hook.into(), Vec::new()));
                of_hook.1.push(New { delivery, payload: payload.clone(), is_stored });
            }
        }
        Ok(found.into_values().collect())
    }

    /// What is sent of a message that is there and can be read.
    fn payload_of(
        &self,
        id: MessageId,
        audience: &Audience,
        rows: &HashMap<Uuid, Row>,
    ) -> Result<Option<String>> {
        let message = rows.get(&id.uuid).and_then(|row| self.rows.decode_message(row));
        let Some(message) = message else { return Ok(None) };
        let event = event_payload(id.inbox, &audience.inbox_name, id, &message);
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
