//! Calls an endpoint with a batch of deliveries, and records the results.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use trapline_model::Time;
use trapline_store::{
    Lane, load,
    records::{BacklogEntry, Delivery, Webhook},
};

use super::{
    WebhookOutcome, WebhookRequest, WebhookSender, Webhooks,
    attempt::{DELETED, DISABLED, NOT_ALLOWED, NOT_IN_PLAN},
    backlog::WebhookRef,
    endpoint::{Endpoint, MAX_CONCURRENT_CALLS},
    record::record_in_batches,
};
use crate::{Result, in_flight::Claim, rows::write_all};

/// What all calls of one batch have in common.
pub(super) struct CallBatch {
    pub(super) webhook_ref: WebhookRef,
    pub(super) lane: Lane,
    /// No call begins later than this.
    pub(super) until: Time,
}

/// A delivery whose attempt is due, claimed by this job until this is dropped.
pub(super) struct DueDelivery {
    pub(super) delivery: Delivery,
    /// The payload; `None` if it is to be read before the call.
    pub(super) body: Option<Bytes>,
    /// Its entries in the backlog, removed once the result is recorded.
    pub(super) entries: Vec<BacklogEntry>,
    _claim: Claim,
}

impl DueDelivery {
    pub(super) fn new(delivery: Delivery, claim: Claim) -> Self {
        Self { delivery, body: None, entries: Vec::new(), _claim: claim }
    }

    fn unsent(&self, is_stopped: bool) -> UnsentDelivery {
        let due = self.entries.iter().map(|entry| entry.due).min();
        UnsentDelivery { delivery: self.delivery.id, due, is_stopped }
    }
}

/// The result of one delivery in a batch.
pub(super) enum CallResult {
    /// The request was sent.
    Attempted { at: Time, outcome: WebhookOutcome },
    /// The delivery ends without a request, for this reason.
    Refused(&'static str),
    /// The payload has expired, and with it the delivery's entry in the log.
    Expired,
}

/// A delivery that was not attempted.
pub(super) struct UnsentDelivery {
    pub(super) delivery: trapline_model::DeliveryId,
    /// When its first entry in the backlog is due; `None` if it had no entry.
    pub(super) due: Option<Time>,
    /// True when the batch ran out of time or the endpoint turned out to be slow; false when the request
    /// could not be made.
    pub(super) is_stopped: bool,
}

/// Result of a batch of calls.
#[derive(Default)]
pub(super) struct BatchResult {
    pub(super) unsent: Vec<UnsentDelivery>,
    /// When the first delivery that is to be retried is due.
    pub(super) first_retry: Option<Time>,
}

impl BatchResult {
    pub(super) fn is_stopped(&self) -> bool {
        self.unsent.iter().any(|unsent| unsent.is_stopped)
    }
}

impl Webhooks {
    /// Makes the calls, in order and four at a time, and records their results. A delivery that is to be
    /// retried then has an entry in the backlog, but maybe no job.
    pub(super) async fn make_calls(
        &self,
        batch: &CallBatch,
        ready: Vec<DueDelivery>,
        sender: &dyn WebhookSender,
    ) -> Result<BatchResult> {
        if ready.is_empty() {
            return Ok(BatchResult::default());
        }
        let WebhookRef { team, webhook } = batch.webhook_ref;
        let hook = load::<Webhook>(&*self.store, &Webhook::row(team, webhook)).await?;
        let hook = match hook {
            None => Err(DELETED),
            Some((hook, _)) if !hook.enabled => Err(DISABLED),
            Some(_) if !self.are_in_plan(team).await? => Err(NOT_IN_PLAN),
            Some((hook, _)) => Ok(hook),
        };
        let (endpoint, made) = (self.endpoints.of(webhook), Mutex::<BatchResult>::default());
        let lock = || made.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = ready.into_iter().map(|ready| {
            let (hook, endpoint, lock) = (&hook, &endpoint, &lock);
            async move {
                let ending = match hook {
                    Err(why) => Ok(CallResult::Refused(why)),
                    Ok(hook) => self.call(batch, hook, &ready, endpoint, sender).await,
                };
                match ending {
                    Ok(ending) => Some((ready, ending)),
                    Err(is_stopped) => {
                        lock().unsent.push(ready.unsent(is_stopped));
                        None
                    }
                }
            }
        });
        let calls = stream::iter(calls).buffer_unordered(MAX_CONCURRENT_CALLS);
        let calls = calls.filter_map(std::future::ready);
        record_in_batches(calls, |ended| async {
            let first = self.record(batch.webhook_ref, ended).await?;
            let mut made = lock();
            made.first_retry = [made.first_retry, first].into_iter().flatten().min();
            Ok(())
        })
        .await?;
        Ok(made.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes a call, unless it must not begin any more (`Err(true)`) or cannot be made (`Err(false)`).
    async fn call(
        &self,
        batch: &CallBatch,
        hook: &Webhook,
        ready: &DueDelivery,
        endpoint: &Endpoint,
        sender: &dyn WebhookSender,
    ) -> Result<CallResult, bool> {
        let _permit = endpoint.call_permit().await.ok_or(true)?;
        if self.clock.now() >= batch.until || endpoint.is_too_slow_for(batch.lane) {
            return Err(true);
        }
        let request = match self.next_request(hook, ready).await {
            Ok(Ok(request)) => request,
            Ok(Err(ending)) => return Ok(ending),
            Err(error) => {
                tracing::error!(%error, webhook = %hook.id, "a webhook cannot be called");
                return Err(false);
            }
        };
        let outcome = sender.send(&request).await;
        endpoint.note_answer(outcome.is_good(), outcome.took);
        Ok(CallResult::Attempted { at: request.at, outcome })
    }

    async fn next_request(
        &self,
        hook: &Webhook,
        ready: &DueDelivery,
    ) -> Result<Result<WebhookRequest, CallResult>> {
        let body = match &ready.body {
            Some(body) => body.clone(),
            // Both rows are written together; without the one the other's time in the log is over.
            None => match self.load_payload(&ready.delivery).await? {
                Some(payload) => payload.into(),
                None => return Ok(Err(CallResult::Expired)),
            },
        };
        let request = self.request(hook, &ready.delivery, body)?;
        Ok(request.ok_or(CallResult::Refused(NOT_ALLOWED)))
    }

    /// Claims the deliveries of backlog entries. Entries of deliveries that have ended, or whose next
    /// attempt is due later, are removed. Also returns when the first entry is due whose delivery another
    /// job of this process has claimed.
    pub(super) async fn due_deliveries(
        &self,
        webhook_ref: WebhookRef,
        entries: &[BacklogEntry],
    ) -> Result<(Vec<DueDelivery>, Option<Time>)> {
        let mut of: HashMap<_, Vec<BacklogEntry>> = HashMap::new();
        let mut order = Vec::new();
        for entry in entries {
            let places = of.entry(entry.delivery).or_default();
            if places.is_empty() {
                order.push(entry.delivery);
            }
            places.push(*entry);
        }
        let claims = order.iter().map(|id| (*id, self.in_flight.take(id.0)));
        let mut claims: HashMap<_, _> = claims.collect();
        let rows = self.delivery_rows(webhook_ref.webhook, &order).await?;
        let (mut ready, mut moved, mut gone, mut held) = (Vec::new(), Vec::new(), Vec::new(), None);
        for id in order {
            let entries = of.remove(&id).unwrap_or_default();
            let Some(claim) = claims.remove(&id).flatten() else {
                let due = entries.first().map(|entry| entry.due);
                held = [held, due].into_iter().flatten().min();
                continue;
            };
            let delivery = rows.get(&id.0).and_then(|row| self.rows.decode::<Delivery>(row));
            match delivery.filter(|delivery| !delivery.status.is_final()) {
                None => gone.extend(entries),
                Some(delivery) => match delivery.next_attempt_at {
                    Some(due) if super::deliver::is_retry(&delivery) && due > self.clock.now() => {
                        moved.push(
                            BacklogEntry { webhook: webhook_ref.webhook, due, delivery: id }
                                .put()?,
                        );
                        gone.extend(entries);
                    }
                    _ => ready.push(DueDelivery { entries, ..DueDelivery::new(delivery, claim) }),
                },
            }
        }
        write_all(&*self.store, moved).await?;
        write_all(&*self.store, gone.iter().map(BacklogEntry::delete).collect()).await?;
        Ok((ready, held))
    }
}
