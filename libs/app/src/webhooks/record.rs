//! Records the results of attempts.

use futures_util::{Stream, StreamExt as _};
use trapline_model::{DeliveryStatus, TeamId, Time};
use trapline_store::{
    Op,
    records::{BacklogEntry, Delivery, WebhookStatus},
};

use super::{
    WebhookOutcome, WebhookReply, Webhooks,
    backlog::WebhookRef,
    calls::{CallResult, DueDelivery},
    retry_schedule::{DeliveryDecision, backoff_after, decide},
    rows::put,
};
use crate::{Result, metrics, onboarding::Step, rows::write_all};

/// Attempts that are recorded together.
const MAX_BATCH: usize = 64;

/// Records the results of a stream of calls in batches: each write has all results since the last one.
pub(super) async fn record_in_batches<T, F: Future<Output = Result<()>>>(
    calls: impl Stream<Item = T>,
    record: impl Fn(Vec<T>) -> F,
) -> Result<()> {
    let mut calls = std::pin::pin!(calls.fuse());
    let mut ended = Vec::new();
    loop {
        if ended.is_empty() {
            match calls.next().await {
                Some(one) => ended.push(one),
                None => return Ok(()),
            }
        }
        let mut recording = std::pin::pin!(record(std::mem::take(&mut ended)));
        loop {
            tokio::select! {
                recorded = &mut recording => {
                    recorded?;
                    break;
                }
                Some(one) = calls.next(), if ended.len() < MAX_BATCH => ended.push(one),
            }
        }
    }
}

impl Webhooks {
    /// Records the results of deliveries of one webhook. A delivery that is to be retried gets its new
    /// backlog entry before the old one is removed. Returns when the first of them is due. A delivery that
    /// has ended, or an attempt that another process recorded meanwhile, is left as it is.
    pub(super) async fn record(
        &self,
        webhook_ref: WebhookRef,
        ended: Vec<(DueDelivery, CallResult)>,
    ) -> Result<Option<Time>> {
        let ids: Vec<_> = ended.iter().map(|(ready, _)| ready.delivery.id).collect();
        let rows = self.delivery_rows(webhook_ref.webhook, &ids).await?;
        let now = self.clock.now();
        let (mut ops, mut gone) = (Vec::new(), Vec::new());
        let (mut latest, mut first) = (None::<(Time, Delivery)>, None);
        for (ready, ending) in &ended {
            gone.extend(ready.entries.iter().map(BacklogEntry::delete));
            let row = rows.get(&ready.delivery.id.0);
            let Some(known) = row.and_then(|row| self.rows.decode::<Delivery>(row)) else {
                continue;
            };
            let mut delivery = known.clone();
            let is_first = !known.status.is_final() && known.attempts <= ready.delivery.attempts;
            let at = if is_first { apply_call_result(&mut delivery, ending, now) } else { None };
            if delivery != known {
                ops.push(put(&delivery, now)?);
            }
            let next = delivery.next_attempt_at.filter(|_| super::deliver::is_retry(&delivery));
            if let Some(due) = next {
                ops.push(
                    BacklogEntry { webhook: webhook_ref.webhook, due, delivery: known.id }.put()?,
                );
                first = [first, Some(due)].into_iter().flatten().min();
            }
            if let Some(at) = at.filter(|at| latest.as_ref().is_none_or(|(latest, _)| latest <= at))
            {
                latest = Some((at, delivery));
            }
        }
        write_all(&*self.store, ops).await?;
        write_all(&*self.store, gone).await?;
        if let Some((at, delivery)) = latest {
            self.note(webhook_ref.team, &delivery, at).await?;
        }
        Ok(first)
    }

    /// Ends a delivery whose attempt was not made.
    pub(super) async fn refuse(
        &self,
        team: TeamId,
        mut delivery: Delivery,
        why: &'static str,
    ) -> Result<Delivery> {
        let now = self.clock.now();
        mark_refused(&mut delivery, why, now);
        self.put_delivery(&delivery).await?;
        self.note(team, &delivery, now).await?;
        Ok(delivery)
    }

    pub(super) async fn put_delivery(&self, delivery: &Delivery) -> Result<()> {
        let put: Op = put(delivery, self.clock.now())?;
        Ok(self.store.write(vec![put]).await?)
    }

    pub(super) async fn note(&self, team: TeamId, delivery: &Delivery, at: Time) -> Result<()> {
        let Delivery { webhook, status, ref error, .. } = *delivery;
        if status == DeliveryStatus::Succeeded {
            self.first_steps.note(team, Step::Webhook).await;
        }
        let status = WebhookStatus { team, id: webhook, status, error: error.clone(), at };
        Ok(self.statuses.note(status).await?)
    }
}

/// Moves a delivery on. Returns the time by which its webhook's status is that of this delivery.
fn apply_call_result(delivery: &mut Delivery, ending: &CallResult, now: Time) -> Option<Time> {
    match ending {
        CallResult::Attempted { at, outcome } => {
            apply_outcome(delivery, delivery.attempts + 1, outcome, now);
            metrics::webhook_attempt(delivery.status, outcome.took);
            Some(*at)
        }
        CallResult::Refused(why) => {
            mark_refused(delivery, why, now);
            // There is no webhook any more.
            (*why != super::attempt::DELETED).then_some(now)
        }
        CallResult::Expired => None,
    }
}

fn mark_refused(delivery: &mut Delivery, why: &'static str, now: Time) {
    delivery.status = DeliveryStatus::Failed;
    delivery.error = Some(why.to_owned());
    (delivery.next_attempt_at, delivery.completed_at) = (None, Some(now));
}

/// Moves a delivery on by one attempt.
pub(super) fn apply_outcome(
    delivery: &mut Delivery,
    number: u32,
    outcome: &WebhookOutcome,
    now: Time,
) {
    delivery.attempts = number;
    delivery.http_status = outcome.result.ok().map(|WebhookReply { status, .. }| status);
    delivery.duration_ms = u64::try_from(outcome.took.as_millis()).ok();
    let next = match decide(outcome) {
        DeliveryDecision::Succeeded => Ok(()),
        DeliveryDecision::Failed(code) => Err((code, None)),
        DeliveryDecision::Retry(code, asked) => {
            Err((code, backoff_after(delivery.id, number, asked)))
        }
    };
    delivery.error = next.err().map(|(code, _)| code.to_owned());
    delivery.next_attempt_at = next.err().and_then(|(_, backoff)| backoff).map(|by| now.after(by));
    delivery.status = match (next, delivery.next_attempt_at) {
        (Ok(()), _) => DeliveryStatus::Succeeded,
        (Err(_), Some(_)) => DeliveryStatus::Retrying,
        (Err(_), None) => DeliveryStatus::Failed,
    };
    delivery.completed_at = delivery.status.is_final().then_some(now);
}
