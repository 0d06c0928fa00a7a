//! From mail that arrived to deliveries. Doing it twice makes each delivery once.

use futures_util::future::try_join_all;
use trapline_model::{DeliveryId, DeliveryStatus, EventName, InboxId, MessageId, TeamId};
use trapline_store::{
    PortError,
    records::{Delivery, DeliveryPayload, Message, Webhook},
};

use super::{
    attempt::next_job,
    log::fresh,
    payload::{Told, payload},
};
use crate::{App, Error, Result, ids, receive::Arrival};

/// Messages whose deliveries are started together; also bounds the memory that their payloads take.
const AT_ONCE: usize = 64;

/// A delivery that must have a row and a job.
pub(super) struct Due {
    pub(super) team: TeamId,
    pub(super) delivery: Delivery,
    /// What it sends; none if it has rows, and maybe no job.
    pub(super) payload: Option<String>,
}

/// An inbox in which mail arrived, and who is told of it.
struct Audience {
    inbox_name: String,
    hooks: Vec<Webhook>,
}

impl App {
    /// Starts the deliveries that arrived mail calls for.
    pub(crate) async fn tell_webhooks(&self, arrivals: &[Arrival]) -> Result<()> {
        let audiences = try_join_all(arrivals.iter().map(|arrival| self.audience(arrival))).await?;
        let mut messages = Vec::new();
        for (arrival, audience) in arrivals.iter().zip(&audiences) {
            let Some(audience) = audience else { continue };
            let ids = arrival.messages.iter();
            messages.extend(
                ids.map(|uuid| (MessageId { inbox: arrival.inbox, uuid: *uuid }, audience)),
            );
        }
        for some in messages.chunks(AT_ONCE) {
            let found = some.iter().map(|(id, audience)| self.deliveries_of(*id, audience));
            let due = try_join_all(found).await?;
            self.start_deliveries(due.into_iter().flatten().collect()).await?;
        }
        Ok(())
    }

    pub(super) async fn start_deliveries(&self, due: Vec<Due>) -> Result<()> {
        let mut rows = Vec::new();
        for Due { delivery, payload, .. } in &due {
            let Some(payload) = payload.clone() else { continue };
            let payload = DeliveryPayload { webhook: delivery.webhook, id: delivery.id, payload };
            rows.extend(self.new_delivery_rows(delivery, &payload)?);
        }
        let jobs = due.iter().map(|due| next_job(due.team, &due.delivery));
        let jobs = jobs.collect::<Result<Vec<_>, PortError>>()?;
        self.schedule_with(rows, &jobs).await?;
        for due in &due {
            self.bucket_written(&due.delivery);
        }
        Ok(())
    }

    /// Nobody, when no webhook wants to know, or the inbox is gone and its messages with it.
    async fn audience(&self, arrival: &Arrival) -> Result<Option<Audience>> {
        let hooks = self.webhooks.hooks.of(arrival.team).await?;
        let hooks: Vec<_> =
            hooks.iter().filter(|hook| hook.wants(arrival.inbox)).cloned().collect();
        if hooks.is_empty() {
            return Ok(None);
        }
        match self.inbox_record(arrival.team, arrival.inbox).await {
            Ok(inbox) => Ok(Some(Audience { inbox_name: inbox.name, hooks })),
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn deliveries_of(&self, id: MessageId, audience: &Audience) -> Result<Vec<Due>> {
        let Some(row) = self.ports.store.get(&Message::row(id)).await? else {
            return Ok(Vec::new());
        };
        let message = Message::of(&row)?;
        let told = told(id.inbox, &audience.inbox_name, id, &message);
        let event = EventName::MessageReceived;
        let payload = payload(event, told, &self.settings.base_url)?;
        let mut found = Vec::with_capacity(audience.hooks.len());
        for hook in &audience.hooks {
            let delivery = DeliveryId(ids::of_mail(id, hook.id.0.as_bytes()));
            let (delivery, payload) = match self.load_delivery(hook.id, delivery).await? {
                Some(known) if known.status != DeliveryStatus::Pending => continue,
                Some(known) => (known, None),
                None => (fresh(delivery, hook.id, event, Some(id)), Some(payload.clone())),
            };
            found.push(Due { team: hook.team, delivery, payload });
        }
        Ok(found)
    }
}

fn told<'a>(inbox: InboxId, inbox_name: &'a str, id: MessageId, message: &'a Message) -> Told<'a> {
    Told {
        inbox,
        inbox_name,
        message: id,
        subject: &message.subject,
        from: message.from.as_ref(),
        to: &message.to,
        envelope_to: &message.envelope.to,
    }
}
