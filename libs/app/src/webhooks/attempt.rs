//! One attempt: what is sent, and whether it is still to be sent.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use trapline_model::{DeliveryId, DeliveryStatus, TeamId, Time, WebhookId};
use trapline_store::{
    Job, Lane, PortError, load,
    records::{Delivery, Webhook},
};
use url::Url;

use super::{sign::signature, target};
use crate::{
    App, Result,
    claims::Claim,
    jobs::{self, Begun},
};

/// The names that a fault of the answering side has in the log.
pub(super) const DISABLED: &str = "webhook_disabled";
pub(super) const DELETED: &str = "webhook_deleted";
const NOT_ALLOWED: &str = "address_not_allowed";

/// The work of the webhook lanes: one attempt of one delivery.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Call {
    team: TeamId,
    webhook: WebhookId,
    delivery: DeliveryId,
    /// From 1. A job for an attempt that has ended already is a repeat.
    attempt: u32,
    /// Whether it was due before and had to make room.
    #[serde(default)]
    waited: bool,
}

/// Whom a job calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Called {
    /// The webhook.
    pub webhook: WebhookId,
    /// Whether the job was due before and was put off.
    pub waited: bool,
}

/// A request to be made; its delivery is this process's own until it is dropped.
#[derive(Debug)]
pub struct Attempt {
    /// The webhook.
    pub webhook: WebhookId,
    /// Where to.
    pub url: Url,
    /// Every header that the contract names, and the content type.
    pub headers: Vec<(&'static str, String)>,
    /// The payload.
    pub body: Bytes,
    /// From 1 to 8.
    pub number: u32,
    pub(super) team: TeamId,
    pub(super) delivery: DeliveryId,
    /// When it was signed.
    pub at: Time,
    pub(super) _claim: Option<Claim>,
}

/// What the receiver answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// How long it wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// A stable word for the log.
    pub code: &'static str,
    /// Whether another attempt would fail in the same way.
    pub is_final: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// How long it took.
    pub took: Duration,
    /// The answer, or why there is none.
    pub result: Result<Reply, Failure>,
}

/// Makes requests to addresses that customers give.
#[async_trait]
pub trait Caller: Send + Sync {
    /// Says why an address can never be called, as far as can be told without asking anybody.
    fn check(&self, url: &Url) -> Result<(), String>;
    /// Makes the request, within the deadline.
    async fn call(&self, attempt: &Attempt) -> Outcome;
}

impl App {
    /// Whom a job of the webhook lanes calls.
    pub fn called_by(job: &Job) -> Result<Called> {
        let Call { webhook, waited, .. } = jobs::work(job)?;
        Ok(Called { webhook, waited })
    }

    /// The same job for another time or lane.
    pub fn put_off(job: &Job, lane: Lane, due: Time) -> Result<Job> {
        let call = Call { waited: true, ..jobs::work(job)? };
        Ok(jobs::job(lane, job.id.clone(), 1, call, due)?)
    }

    /// Finds out whether the job's attempt is still to be made.
    pub async fn begin_attempt(&self, job: &Job) -> Result<Begun<Attempt>> {
        let call: Call = jobs::work(job)?;
        let Some(claim) = self.webhooks.claims.take(call.delivery.0) else {
            return Ok(Begun::Later(Self::put_off(job, job.lane, self.now().after(jobs::BEHIND))?));
        };
        let (store, hook) = (&*self.ports.store, Webhook::row(call.team, call.webhook));
        let (delivery, hook) = tokio::join!(
            self.load_delivery(call.webhook, call.delivery),
            load::<Webhook>(store, &hook)
        );
        let (Some(delivery), hook) = (delivery?, hook?) else { return self.call_without_row(job) };
        if delivery.status.is_final() {
            return Ok(Begun::Over);
        }
        if call.attempt <= delivery.attempts {
            // A repeat. What comes after it may have been lost with the process that ran it first.
            return Ok(Begun::Later(next_job(call.team, &delivery)?));
        }
        let refused = match &hook {
            None => DELETED,
            Some((hook, _)) if !hook.enabled => DISABLED,
            Some((hook, _)) => {
                // Both are written together; without the one the other's time in the log is over.
                let Some(payload) = self.load_payload(&delivery).await? else {
                    return Ok(Begun::Over);
                };
                match self.attempt(hook, &delivery, payload.into(), Some(claim))? {
                    Some(attempt) => return Ok(Begun::Attempt(Box::new(attempt))),
                    None => NOT_ALLOWED,
                }
            }
        };
        self.refuse(call.team, delivery, refused).await?;
        Ok(Begun::Over)
    }

    /// Waits at the end of its endpoint's line.
    fn call_without_row(&self, job: &Job) -> Result<Begun<Attempt>> {
        Ok(match self.ahead_of_its_row(job)? {
            Some(due) => Begun::Later(Self::put_off(job, job.lane, due)?),
            None => Begun::Over,
        })
    }

    /// The next request of a delivery, signed now; nothing if the address cannot be called.
    pub(super) fn attempt(
        &self,
        hook: &Webhook,
        delivery: &Delivery,
        body: Bytes,
        claim: Option<Claim>,
    ) -> Result<Option<Attempt>> {
        let Ok(url) = target::parse(&hook.url) else { return Ok(None) };
        let secret = self.secret_of(hook)?;
        let at = self.now();
        let timestamp = at.millis().div_euclid(1000);
        Ok(Some(Attempt {
            webhook: hook.id,
            url,
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("user-agent", "service-webhooks/1".to_owned()),
                ("x-webhook-event", delivery.event.as_str().to_owned()),
                ("x-webhook-timestamp", timestamp.to_string()),
                ("x-webhook-signature", signature(&secret, timestamp, &body)),
                ("x-webhook-delivery", delivery.id.to_string()),
            ],
            body,
            number: delivery.attempts + 1,
            team: hook.team,
            delivery: delivery.id,
            at,
            _claim: claim,
        }))
    }
}

/// The job for the attempt that a delivery's row says is next.
pub(super) fn next_job(team: TeamId, delivery: &Delivery) -> Result<Job, PortError> {
    let call = Call {
        team,
        webhook: delivery.webhook,
        delivery: delivery.id,
        attempt: delivery.attempts + 1,
        waited: delivery.status == DeliveryStatus::Retrying,
    };
    let due = delivery.next_attempt_at.unwrap_or_else(|| delivery.created_at());
    jobs::job(Lane::Webhook, delivery.id.to_string(), 1, call, due)
}
