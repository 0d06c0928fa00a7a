//! The calls of one job, and what is recorded of them.

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
    backlog::Owner,
    endpoint::{Endpoint, MAX_CONCURRENT_CALLS},
    record::record_as_they_come,
};
use crate::{Result, in_flight::Claim, rows::write_all};

/// The conditions that all calls of one batch share.
pub(super) struct Batch {
    pub(super) owner: Owner,
    pub(super) lane: Lane,
    /// No call begins later than this.
    pub(super) until: Time,
}

/// A delivery that is due, and this job's own in this process until this is dropped.
pub(super) struct Ready {
    pub(super) delivery: Delivery,
    /// What it sends; read before the call where it is not there.
    pub(super) body: Option<Bytes>,
    /// Its places in the backlog, which it leaves.
    pub(super) entries: Vec<BacklogEntry>,
    _claim: Claim,
}

impl Ready {
    pub(super) fn new(delivery: Delivery, claim: Claim) -> Self {
        Self { delivery, body: None, entries: Vec::new(), _claim: claim }
    }

    fn left(&self, is_stopped: bool) -> Left {
        let due = self.entries.iter().map(|entry| entry.due).min();
        Left { delivery: self.delivery.id, due, is_stopped }
    }
}

/// How a delivery was dealt with.
pub(super) enum Ending {
    /// The request was sent.
    Attempted { at: Time, outcome: WebhookOutcome },
    /// The delivery ends without a request, for this reason.
    Refused(&'static str),
    /// The payload is past its time, and so is the delivery's place in the log.
    Expired,
}

/// A delivery that stays where it was.
pub(super) struct Left {
    pub(super) delivery: trapline_model::DeliveryId,
    /// Its place in the backlog, if it had one.
    pub(super) due: Option<Time>,
    /// Whether time was over, or the endpoint turned out to be slow; else it could not be sent.
    pub(super) is_stopped: bool,
}

/// Result of a batch of calls.
#[derive(Default)]
pub(super) struct Made {
    pub(super) left: Vec<Left>,
    /// When the first is due that is tried again.
    pub(super) first_retry: Option<Time>,
}

impl Made {
    pub(super) fn is_stopped(&self) -> bool {
        self.left.iter().any(|left| left.is_stopped)
    }
}

impl Webhooks {
    /// Makes the calls, in order and four at a time, and records them. What is tried again has its
    /// place in the backlog then, but maybe no job.
    pub(super) async fn make_calls(
        &self,
        batch: &Batch,
        ready: Vec<Ready>,
        sender: &dyn WebhookSender,
    ) -> Result<Made> {
        if ready.is_empty() {
            return Ok(Made::default());
        }
        let Owner { team, webhook } = batch.owner;
        let hook = load::<Webhook>(&*self.store, &Webhook::row(team, webhook)).await?;
        let hook = match hook {
            None => Err(DELETED),
            Some((hook, _)) if !hook.enabled => Err(DISABLED),
            Some(_) if !self.are_in_plan(team).await? => Err(NOT_IN_PLAN),
            Some((hook, _)) => Ok(hook),
        };
        let (endpoint, made) = (self.endpoints.of(webhook), Mutex::<Made>::default());
        let lock = || made.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = ready.into_iter().map(|ready| {
            let (hook, endpoint, lock) = (&hook, &endpoint, &lock);
            async move {
                let ending = match hook {
                    Err(why) => Ok(Ending::Refused(why)),
                    Ok(hook) => self.call(batch, hook, &ready, endpoint, sender).await,
                };
                match ending {
                    Ok(ending) => Some((ready, ending)),
                    Err(is_stopped) => {
                        lock().left.push(ready.left(is_stopped));
                        None
                    }
                }
            }
        });
        let calls = stream::iter(calls).buffer_unordered(MAX_CONCURRENT_CALLS);
        let calls = calls.filter_map(std::future::ready);
        record_as_they_come(calls, |ended| async {
            let first = self.record(batch.owner, ended).await?;
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
        batch: &Batch,
        hook: &Webhook,
        ready: &Ready,
        endpoint: &Endpoint,
        sender: &dyn WebhookSender,
    ) -> Result<Ending, bool> {
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
        endpoint.answered(outcome.is_good(), outcome.took);
        Ok(Ending::Attempted { at: request.at, outcome })
    }

    async fn next_request(
        &self,
        hook: &Webhook,
        ready: &Ready,
    ) -> Result<Result<WebhookRequest, Ending>> {
        let body = match &ready.body {
            Some(body) => body.clone(),
            // Both rows are written together; without the one the other's time in the log is over.
            None => match self.load_payload(&ready.delivery).await? {
                Some(payload) => payload.into(),
                None => return Ok(Err(Ending::Expired)),
            },
        };
        let request = self.request(hook, &ready.delivery, body)?;
        Ok(request.ok_or(Ending::Refused(NOT_ALLOWED)))
    }

    /// What is due of entries that were read from a backlog. Entries of deliveries that have ended, or
    /// whose next attempt is due later, are removed. Also when the first is due that another job of this
    /// process has.
    pub(super) async fn ready(
        &self,
        owner: Owner,
        entries: &[BacklogEntry],
    ) -> Result<(Vec<Ready>, Option<Time>)> {
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
        let rows = self.delivery_rows(owner.webhook, &order).await?;
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
                            BacklogEntry { webhook: owner.webhook, due, delivery: id }.put()?,
                        );
                        gone.extend(entries);
                    }
                    _ => ready.push(Ready { entries, ..Ready::new(delivery, claim) }),
                },
            }
        }
        write_all(&*self.store, moved).await?;
        write_all(&*self.store, gone.iter().map(BacklogEntry::delete).collect()).await?;
        Ok((ready, held))
    }
}
