//! What becomes of a delivery after an attempt.

use trapline_model::{DeliveryStatus, TeamId, Time};
use trapline_store::{
    Job,
    records::{Delivery, WebhookStatus},
};

use super::{
    Attempt, Outcome, Reply,
    attempt::next_job,
    ladder::{Verdict, pause, verdict},
    rows::put,
};
use crate::{App, Result, metrics};

impl App {
    /// Notes how an attempt ended, and returns the job of the next one, if there is one. A delivery
    /// that has ended, or an attempt that another process noted meanwhile, is left as it is.
    pub async fn record_attempt(&self, attempt: Attempt, outcome: Outcome) -> Result<Option<Job>> {
        let found = self.load_delivery(attempt.webhook, attempt.delivery).await?;
        let Some(mut delivery) = found else { return Ok(None) };
        if delivery.status.is_final() {
            return Ok(None);
        }
        if delivery.attempts < attempt.number {
            let now = self.now();
            settle(&mut delivery, attempt.number, &outcome, now);
            metrics::webhook_attempt(delivery.status, outcome.took);
            self.put_delivery(&delivery).await?;
            self.note(attempt.team, &delivery, attempt.at).await?;
        }
        if delivery.status.is_final() {
            return Ok(None);
        }
        Ok(Some(next_job(attempt.team, &delivery)?))
    }

    /// Ends a delivery whose attempt was not made.
    pub(super) async fn refuse(
        &self,
        team: TeamId,
        mut delivery: Delivery,
        why: &'static str,
    ) -> Result<Delivery> {
        let now = self.now();
        delivery.status = DeliveryStatus::Failed;
        delivery.error = Some(why.to_owned());
        (delivery.next_attempt_at, delivery.completed_at) = (None, Some(now));
        self.put_delivery(&delivery).await?;
        if why != super::attempt::DELETED {
            self.note(team, &delivery, now).await?;
        }
        Ok(delivery)
    }

    pub(super) async fn put_delivery(&self, delivery: &Delivery) -> Result<()> {
        Ok(self.ports.store.write(vec![put(delivery, self.now())?]).await?)
    }

    pub(super) async fn note(&self, team: TeamId, delivery: &Delivery, at: Time) -> Result<()> {
        let Delivery { webhook, status, ref error, .. } = *delivery;
        let status = WebhookStatus { team, id: webhook, status, error: error.clone(), at };
        Ok(self.webhooks.statuses.note(status).await?)
    }
}

/// Moves a delivery on by one attempt.
pub(super) fn settle(delivery: &mut Delivery, number: u32, outcome: &Outcome, now: Time) {
    delivery.attempts = number;
    delivery.http_status = outcome.result.ok().map(|Reply { status, .. }| status);
    delivery.duration_ms = u64::try_from(outcome.took.as_millis()).ok();
    let next = match verdict(outcome) {
        Verdict::Succeeded => Ok(()),
        Verdict::Failed(code) => Err((code, None)),
        Verdict::Again(code, asked) => Err((code, pause(delivery.id, number, asked))),
    };
    delivery.error = next.err().map(|(code, _)| code.to_owned());
    delivery.next_attempt_at = next.err().and_then(|(_, pause)| pause).map(|by| now.after(by));
    delivery.status = match (next, delivery.next_attempt_at) {
        (Ok(()), _) => DeliveryStatus::Succeeded,
        (Err(_), Some(_)) => DeliveryStatus::Retrying,
        (Err(_), None) => DeliveryStatus::Failed,
    };
    delivery.completed_at = delivery.status.is_final().then_some(now);
}
