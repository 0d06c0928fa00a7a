//! Does the jobs of the webhook lanes.
//!
//! A job names new deliveries and is finished when each has ended or is in its webhook's backlog; or it
//! works on a backlog.

use std::{collections::HashMap, time::Duration};

use serde::{Deserialize, Serialize};
use trapline_model::{DeliveryId, DeliveryStatus, TeamId, Time, WebhookId};
use trapline_store::{
    Job, PortError,
    records::{Delivery, DeliveryPayload},
};

use super::{
    WebhookSender, Webhooks,
    backlog::WebhookRef,
    calls::{CallBatch, DueDelivery},
    probe::ProbeCall,
};
use crate::{
    Result,
    jobs::{self, CLAIM_RETRY_DELAY},
};

/// How long one job may begin new calls: other jobs wait for its place in the lane.
pub(super) const TIME_SLICE: Duration = Duration::from_secs(10);

/// What a job of the webhook lanes asks for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum WebhookWork {
    New(NewDeliveries),
    Backlog(BacklogWork),
    /// A job of an earlier release, which had one for each delivery.
    Single(SingleDelivery),
    /// A probe, which calls a receiver of the process's own.
    Probe(ProbeCall),
}

/// First attempts at one webhook.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct NewDeliveries {
    pub(super) team: TeamId,
    pub(super) webhook: WebhookId,
    pub(super) deliveries: Vec<DeliveryId>,
}

/// What is due in a webhook's backlog.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct BacklogWork {
    pub(super) team: TeamId,
    pub(super) webhook: WebhookId,
    /// What was due before is done, or covered by another job.
    pub(super) from: Time,
    /// How often it found that another process was at it.
    #[serde(default)]
    pub(super) deferrals: u32,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct SingleDelivery {
    team: TeamId,
    webhook: WebhookId,
    delivery: DeliveryId,
}

/// New deliveries, by what their rows say is next.
#[derive(Default)]
struct NewByState {
    ready: Vec<DueDelivery>,
    waiting: Vec<(DeliveryId, Time)>,
    /// Claimed by another job, or without a visible row yet.
    deferred: Vec<DeliveryId>,
}

impl Webhooks {
    /// Does what a job of the webhook lanes asks for, and returns the job that takes its place, if there
    /// is one. A job may come more than once, and to several processes.
    ///
    /// # Errors
    ///
    /// Those of the backends; the same job is then to be done again.
    pub async fn deliver(&self, job: &Job, sender: &dyn WebhookSender) -> Result<Option<Job>> {
        match jobs::work(job)? {
            WebhookWork::New(new) => self.deliver_new(job, new, sender).await,
            WebhookWork::Backlog(backlog) => self.work_on_backlog(job, backlog, sender).await,
            WebhookWork::Single(SingleDelivery { team, webhook, delivery }) => {
                let new = NewDeliveries { team, webhook, deliveries: vec![delivery] };
                self.deliver_new(job, new, sender).await
            }
            WebhookWork::Probe(call) => self.call_probe_receiver(job, call, sender).await,
        }
    }

    async fn deliver_new(
        &self,
        job: &Job,
        new: NewDeliveries,
        sender: &dyn WebhookSender,
    ) -> Result<Option<Job>> {
        let (webhook_ref, now) =
            (WebhookRef { team: new.team, webhook: new.webhook }, self.clock.now());
        let endpoint = self.endpoints.of(new.webhook);
        let admission = (!endpoint.is_too_slow_for(job.lane))
            .then(|| endpoint.admit(new.deliveries.len()))
            .flatten();
        let Some(_admission) = admission else {
            let waiting: Vec<_> = new.deliveries.iter().map(|id| (*id, now)).collect();
            self.add_to_backlog(webhook_ref, &waiting).await?;
            return Ok(None);
        };
        let NewByState { ready, mut waiting, deferred } = self.sort_by_state(job, &new).await?;
        let batch = CallBatch { webhook_ref, lane: job.lane, until: now.after(TIME_SLICE) };
        let made = self.make_calls(&batch, ready, sender).await?;
        let now = self.clock.now();
        waiting.extend(made.unsent.iter().map(|unsent| (unsent.delivery, now)));
        self.add_to_backlog(webhook_ref, &waiting).await?;
        if let Some(first) = made.first_retry {
            self.cover(webhook_ref, first).await?;
        }
        if deferred.is_empty() {
            return Ok(None);
        }
        let again = WebhookWork::New(NewDeliveries { deliveries: deferred, ..new });
        Ok(Some(jobs::job(job.lane, job.id.clone(), 1, again, now.after(CLAIM_RETRY_DELAY))?))
    }

    async fn sort_by_state(&self, job: &Job, new: &NewDeliveries) -> Result<NewByState> {
        // Claimed before they are read: what was read of others may be old.
        let claims = new.deliveries.iter().map(|id| (*id, self.in_flight.take(id.0)));
        let mut claims: HashMap<_, _> = claims.collect();
        let rows = self.delivery_rows(new.webhook, &new.deliveries).await?;
        let mut sorted = NewByState::default();
        for id in &new.deliveries {
            let Some(claim) = claims.remove(id).flatten() else {
                sorted.deferred.push(*id);
                continue;
            };
            let Some(row) = rows.get(&id.0) else {
                if self.jobs.may_be_ahead_of_its_row(job)? {
                    sorted.deferred.push(*id);
                }
                continue;
            };
            let Some(delivery) = self.rows.decode::<Delivery>(row) else { continue };
            match delivery.next_attempt_at {
                _ if delivery.status.is_final() => {}
                Some(due) if is_retry(&delivery) && due > self.clock.now() => {
                    sorted.waiting.push((*id, due));
                }
                _ => sorted.ready.push(DueDelivery::new(delivery, claim)),
            }
        }
        let wanted = sorted.ready.iter().map(|ready| ready.delivery.id);
        let wanted = wanted.map(|id| DeliveryPayload::row(new.webhook, id)).collect();
        let mut payloads = self.rows.find(wanted).await?;
        for ready in &mut sorted.ready {
            let row = payloads.remove(&ready.delivery.id.0);
            let payload = row.and_then(|row| self.rows.decode::<DeliveryPayload>(&row));
            ready.body = payload.map(|payload| payload.payload.into());
        }
        Ok(sorted)
    }

    /// The rows of a webhook's deliveries that are there.
    pub(super) async fn delivery_rows(
        &self,
        webhook: WebhookId,
        ids: &[DeliveryId],
    ) -> Result<HashMap<uuid::Uuid, trapline_store::Row>> {
        let keys = ids.iter().map(|id| Delivery::row(webhook, *id)).collect();
        Ok(self.rows.find(keys).await?)
    }

    /// The job of new deliveries. Its id is its own: the queue drops what has the id of another job.
    pub(super) fn new_deliveries_job(
        &self,
        webhook_ref: WebhookRef,
        deliveries: Vec<DeliveryId>,
        due: Time,
    ) -> Result<Job, PortError> {
        let WebhookRef { team, webhook } = webhook_ref;
        let work = WebhookWork::New(NewDeliveries { team, webhook, deliveries });
        jobs::job(trapline_store::Lane::Webhook, self.ids.next().to_string(), 1, work, due)
    }
}

/// Whether the time of its next attempt counts: that of the first is when it was made.
pub(super) fn is_retry(delivery: &Delivery) -> bool {
    delivery.status == DeliveryStatus::Retrying
}
