//! Calls webhooks, in a lane of its own for endpoints that keep others waiting.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use tokio::sync::Semaphore;
use trapline_app::{App, Attempt, Error, Failure, Job, Lane, Outcome, Reply, WebhookSender};

use crate::{
    arrivals::after_outage,
    lanes::{Ended, Handler},
    outbound::{Client, Guard, HeaderName, HeaderValue, Url},
};

/// How long a receiver has to answer.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// Jobs, and the calls of all of them, that run at once in a lane.
const FAST_AT_ONCE: usize = 256;
const SLOW_AT_ONCE: usize = 16;
/// When a job comes again that failed though no backend is away. It is never given up: deliveries wait
/// for it.
const RETRY_AFTER_FAULT: Duration = Duration::from_mins(5);

/// Calls webhooks over the guarded HTTP client.
pub struct WebhookCaller {
    guard: Guard,
    client: Client,
    deadline: Duration,
}

impl WebhookCaller {
    /// Whatever `guard` refuses is refused when a webhook is made, too; it is the client's own.
    /// The deadline is [`DEADLINE`] but in tests.
    #[must_use]
    pub fn new(guard: Guard, client: Client, deadline: Duration) -> Self {
        Self { guard, client, deadline }
    }
}

#[async_trait]
impl WebhookSender for WebhookCaller {
    fn check(&self, url: &Url) -> Result<(), String> {
        self.guard.check(url).map_err(|refusal| refusal.to_string())
    }

    async fn call(&self, attempt: &Attempt) -> Outcome {
        let headers: Vec<_> = attempt.headers.iter().filter_map(header).collect();
        let body = attempt.body.clone();
        let answer = self.client.post(&attempt.url, &headers, body, self.deadline).await;
        let now = attempt.at.after(answer.took);
        let reply = answer.outcome.map(|response| Reply {
            status: response.status,
            retry_after: response.retry_after.map(|after| after.delay(now)),
        });
        let failed = |failure: crate::outbound::Failure| Failure {
            code: failure.code(),
            is_final: failure.is_final(),
        };
        Outcome { took: answer.took, result: reply.map_err(failed) }
    }
}

fn header((name, value): &(&'static str, String)) -> Option<(HeaderName, HeaderValue)> {
    Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?))
}

/// Works on one of the webhook lanes.
struct Calls {
    app: Arc<App>,
    caller: Limited,
    lane: Lane,
}

/// The calls of one lane.
struct Limited {
    caller: Arc<dyn WebhookSender>,
    permits: Semaphore,
}

#[async_trait]
impl WebhookSender for Limited {
    fn check(&self, url: &Url) -> Result<(), String> {
        self.caller.check(url)
    }

    async fn call(&self, attempt: &Attempt) -> Outcome {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await;
        self.caller.call(attempt).await
    }
}

/// The handlers of both webhook lanes.
#[must_use]
pub fn webhook_handlers(app: &Arc<App>, caller: &Arc<dyn WebhookSender>) -> Vec<Arc<dyn Handler>> {
    let calls = |lane| {
        let permits = Semaphore::new(at_once(lane));
        Calls { app: app.clone(), caller: Limited { caller: caller.clone(), permits }, lane }
    };
    vec![Arc::new(calls(Lane::Webhook)), Arc::new(calls(Lane::WebhookSlow))]
}

fn at_once(lane: Lane) -> usize {
    if lane == Lane::WebhookSlow { SLOW_AT_ONCE } else { FAST_AT_ONCE }
}

#[async_trait]
impl Handler for Calls {
    fn lane(&self) -> Lane {
        self.lane
    }

    fn at_once(&self) -> usize {
        at_once(self.lane)
    }

    async fn run(&self, job: &Job) -> Result<Ended, Error> {
        let deliver =
            AssertUnwindSafe(self.app.webhooks().deliver(job, &self.caller)).catch_unwind();
        match deliver.await {
            Ok(Ok(next)) => Ok(next.map_or(Ended::Done, Ended::Again)),
            Ok(Err(error)) if error.is_unknown_work() => Err(error),
            Ok(Err(error)) => after_outage(&self.app, job, error)
                .or_else(|error| self.after_fault(job, &error.to_string())),
            Err(_) => self.after_fault(job, "the handler panicked"),
        }
    }
}

impl Calls {
    fn after_fault(&self, job: &Job, why: &str) -> Result<Ended, Error> {
        tracing::error!(error = why, job.id, "deliveries wait for a job that failed");
        Ok(Ended::Again(self.app.jobs().delayed(job, RETRY_AFTER_FAULT)?))
    }
}
