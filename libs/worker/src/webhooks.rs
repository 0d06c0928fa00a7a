//! Calls webhooks: one attempt a job, in a lane of its own for endpoints that keep others waiting.

mod turns;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use trapline_app::{App, Attempt, Begun, Caller, Error, Failure, Job, Lane, Outcome, Reply};

use crate::{
    arrivals::after_outage,
    lanes::{Ended, Handler},
    outbound::{Client, Guard, HeaderName, HeaderValue, Url},
};
use turns::{Turn, Turns};

/// How long a receiver has to answer.
pub const DEADLINE: Duration = Duration::from_secs(10);
const FAST_AT_ONCE: usize = 256;
const SLOW_AT_ONCE: usize = 16;

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
impl Caller for WebhookCaller {
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
    caller: Arc<dyn Caller>,
    turns: Arc<Turns>,
    lane: Lane,
}

/// The handlers of both webhook lanes.
#[must_use]
pub fn webhook_handlers(app: &Arc<App>, caller: &Arc<dyn Caller>) -> Vec<Arc<dyn Handler>> {
    let turns = Arc::new(Turns::new());
    let calls =
        |lane| Calls { app: app.clone(), caller: caller.clone(), turns: turns.clone(), lane };
    vec![Arc::new(calls(Lane::Webhook)), Arc::new(calls(Lane::WebhookSlow))]
}

#[async_trait]
impl Handler for Calls {
    fn lane(&self) -> Lane {
        self.lane
    }

    fn at_once(&self) -> usize {
        if self.lane == Lane::WebhookSlow { SLOW_AT_ONCE } else { FAST_AT_ONCE }
    }

    async fn run(&self, job: &Job) -> Result<Ended, Error> {
        match self.attempt(job).await {
            Ok(ended) => Ok(ended),
            Err(error) => after_outage(&self.app, job, error),
        }
    }
}

impl Calls {
    async fn attempt(&self, job: &Job) -> Result<Ended, Error> {
        let called = App::called_by(job)?;
        let endpoint = self.turns.of(called.webhook);
        let slot = match endpoint.turn(self.lane, called.waited, self.app.now()).await {
            Turn::Now(slot) => slot,
            Turn::Later(lane, due) => return Ok(Ended::Again(App::put_off(job, lane, due)?)),
        };
        let attempt = match self.app.begin_attempt(job).await? {
            Begun::Attempt(attempt) => attempt,
            Begun::Later(next) => return Ok(Ended::Again(next)),
            Begun::Over => return Ok(Ended::Done),
        };
        let outcome = self.caller.call(&attempt).await;
        let ok = outcome.result.is_ok_and(|reply| (200..300).contains(&reply.status));
        endpoint.answered(ok, outcome.took);
        drop(slot);
        let next = self.app.record_attempt(*attempt, outcome).await?;
        Ok(next.map_or(Ended::Done, Ended::Again))
    }
}
