//! One run over a webhook's backlog: what is due is sent, in order and four calls at a time.

use std::time::Duration;

use trapline_model::Time;
use trapline_store::Job;

use super::{
    WebhookSender, Webhooks,
    backlog::{BacklogReader, WebhookRef},
    calls::CallBatch,
    deliver::{BacklogWork, TIME_SLICE},
    endpoint::Endpoint,
    schedule::{BacklogRun, NextRun, RunEnd, RunStart, Schedule},
};
use crate::{Result, jobs};

/// How long a process has a backlog to itself: longer than a run takes.
const LEASE_TIME: Duration = Duration::from_mins(1);
/// When a job comes again that found another process at its backlog, at first and at last.
const DEFERRAL_DELAY: Duration = Duration::from_secs(4);
const MAX_DEFERRAL_DELAY: Duration = Duration::from_secs(15);
/// When to try again what could not be sent though nothing is wrong with the endpoint.
const STUCK_DELAY: Duration = Duration::from_secs(30);

/// How a pass over a backlog ended.
enum Pass {
    /// Time was over; from here on something is due.
    Interrupted(Time),
    /// Everything is done that was due; the job would come again so.
    Done(Option<NextRun>),
}

impl Webhooks {
    pub(super) async fn work_on_backlog(
        &self,
        job: &Job,
        backlog: BacklogWork,
        sender: &dyn WebhookSender,
    ) -> Result<Option<Job>> {
        let (endpoint, now) = (self.endpoints.of(backlog.webhook), self.clock.now());
        if jobs::due(job)? > now {
            return Ok(Some(job.clone()));
        }
        if endpoint.is_too_slow_for(job.lane) {
            return backlog.job(job.id.clone(), endpoint.lane(), now).map(Some);
        }
        let run = match Schedule::begin(&endpoint, backlog.from, now) {
            RunStart::Started(run) => run,
            RunStart::Covered => return Ok(None),
            RunStart::Busy => return self.defer(job, backlog, &endpoint),
        };
        let (name, holder) = (format!("webhook:{}", backlog.webhook), &self.holder);
        let is_shared = !self.is_alone;
        if is_shared && !self.leases.hold(&name, holder, LEASE_TIME).await? {
            drop(run);
            return self.defer(job, backlog, &endpoint);
        }
        let next = self.run_backlog(job, backlog, &endpoint, (run, sender)).await;
        if is_shared && let Err(error) = self.leases.release(&name, holder).await {
            tracing::debug!(%error, "a lease on a backlog runs out by itself");
        }
        let Some(next) = next? else { return Ok(None) };
        let backlog = BacklogWork { from: next.read_from, deferrals: 0, ..backlog };
        backlog.job(job.id.clone(), endpoint.lane(), next.due).map(Some)
    }

    async fn run_backlog(
        &self,
        job: &Job,
        backlog: BacklogWork,
        endpoint: &Endpoint,
        (run, sender): (BacklogRun, &dyn WebhookSender),
    ) -> Result<Option<NextRun>> {
        let webhook_ref = WebhookRef { team: backlog.team, webhook: backlog.webhook };
        let batch =
            CallBatch { webhook_ref, lane: job.lane, until: self.clock.now().after(TIME_SLICE) };
        let mut from = backlog.from;
        loop {
            match self.run_pass(&batch, from, endpoint, sender).await? {
                Pass::Interrupted(left) => {
                    let now = self.clock.now();
                    return Ok(run.interrupt(endpoint.earliest_run(now), left, now));
                }
                Pass::Done(next) => match run.end(next, self.clock.now()) {
                    RunEnd::ReadAgain(added) => {
                        // What could not be sent is not forgotten.
                        from = next.map_or(added, |next| next.read_from.min(added));
                    }
                    RunEnd::Reschedule => return Ok(next),
                    RunEnd::Finished => return Ok(None),
                },
            }
        }
    }

    async fn run_pass(
        &self,
        batch: &CallBatch,
        from: Time,
        endpoint: &Endpoint,
        sender: &dyn WebhookSender,
    ) -> Result<Pass> {
        let mut reader = BacklogReader::new(batch.webhook_ref.webhook, from);
        // The first entry whose delivery another job of this process has claimed, or could not be sent.
        let mut stuck = None::<Time>;
        loop {
            let now = self.clock.now();
            let entries = reader.next(&*self.store, now).await?;
            let Some(first) = entries.first().map(|entry| entry.due) else {
                return self.next_run(batch.webhook_ref, stuck, now).await.map(Pass::Done);
            };
            if now >= batch.until || endpoint.is_too_slow_for(batch.lane) {
                return Ok(Pass::Interrupted(earlier(stuck, first)));
            }
            let (ready, held) = self.due_deliveries(batch.webhook_ref, &entries).await?;
            let made = self.make_calls(batch, ready, sender).await?;
            let unsent = made.unsent.iter().filter_map(|unsent| unsent.due).min();
            stuck = [stuck, held, unsent].into_iter().flatten().min();
            if made.is_stopped() {
                return Ok(Pass::Interrupted(stuck.unwrap_or(first)));
            }
        }
    }

    async fn next_run(
        &self,
        webhook_ref: WebhookRef,
        stuck: Option<Time>,
        until: Time,
    ) -> Result<Option<NextRun>> {
        let earliest_run = self.clock.now().after(self.endpoints.pacing.interval);
        let next =
            self.next_due(webhook_ref.webhook, until).await?.map(|next| next.max(earliest_run));
        let stuck_until = stuck.map(|_| self.clock.now().after(STUCK_DELAY));
        let due = [next, stuck_until].into_iter().flatten().min();
        Ok(due.map(|due| NextRun { due, read_from: earlier(stuck, until) }))
    }

    /// Reschedules a job while another run works on its backlog. That run may leave nothing to do, but only
    /// a later read of the backlog can tell.
    fn defer(&self, job: &Job, backlog: BacklogWork, endpoint: &Endpoint) -> Result<Option<Job>> {
        let now = self.clock.now();
        let delay = DEFERRAL_DELAY * 2_u32.pow(backlog.deferrals.min(2));
        let due = now.after(delay.min(MAX_DEFERRAL_DELAY));
        if endpoint.schedule.is_planned(due, backlog.from, now) {
            return Ok(None);
        }
        endpoint.schedule.note_planned(due, backlog.from, now);
        let backlog = BacklogWork { deferrals: backlog.deferrals.saturating_add(1), ..backlog };
        backlog.job(job.id.clone(), job.lane, due).map(Some)
    }
}

fn earlier(some: Option<Time>, other: Time) -> Time {
    some.map_or(other, |some| some.min(other))
}
