//! Deliveries to webhooks, in a lane of its own for endpoints that keep others waiting.
//!
//! A job is not one attempt: it names many new deliveries of a webhook, or works on the backlog of one.
//! Claims, calls and records of its deliveries go side by side, so the use case drives them and asks
//! for each call.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::sync::Semaphore;
use trapline_app::{App, Error, Job, Lane, WebhookOutcome, WebhookRequest, WebhookSender};

use crate::{
    handler::{JobFailure, JobHandler, JobOutcome, Retry},
    outbound::Url,
};

/// Jobs, and the calls of all of them, that run at once in a lane.
const CONCURRENCY: usize = 256;
const CONCURRENCY_SLOW: usize = 16;
/// When a job comes again that failed though no backend is away. It is never given up: deliveries wait
/// for it.
const FAULT_DELAY: Duration = Duration::from_mins(5);

/// Works on one of the webhook lanes.
pub struct WebhookDeliveries {
    app: Arc<App>,
    sender: LimitedSender,
    lane: Lane,
}

impl WebhookDeliveries {
    /// Deliveries to endpoints that answer in time.
    #[must_use]
    pub fn new(app: Arc<App>, sender: Arc<dyn WebhookSender>) -> Self {
        Self::of_lane(Lane::Webhook, app, sender)
    }

    /// Deliveries to endpoints that keep others waiting.
    #[must_use]
    pub fn slow(app: Arc<App>, sender: Arc<dyn WebhookSender>) -> Self {
        Self::of_lane(Lane::WebhookSlow, app, sender)
    }

    fn of_lane(lane: Lane, app: Arc<App>, sender: Arc<dyn WebhookSender>) -> Self {
        let permits = Semaphore::new(concurrency(lane));
        Self { app, sender: LimitedSender { sender, permits }, lane }
    }
}

fn concurrency(lane: Lane) -> usize {
    if lane == Lane::WebhookSlow { CONCURRENCY_SLOW } else { CONCURRENCY }
}

#[async_trait]
impl JobHandler for WebhookDeliveries {
    fn lane(&self) -> Lane {
        self.lane
    }

    fn concurrency(&self) -> usize {
        concurrency(self.lane)
    }

    async fn run(&self, job: &Job) -> Result<JobOutcome, Error> {
        self.app.webhooks().deliver(job, &self.sender).await.map(JobOutcome::from)
    }

    fn retry(&self, failure: &JobFailure) -> Retry {
        if failure.is_transient() {
            Retry::by_default(failure)
        } else {
            Retry::Uncounted(FAULT_DELAY)
        }
    }
}

/// Sends with a bound on the calls of one lane.
struct LimitedSender {
    sender: Arc<dyn WebhookSender>,
    permits: Semaphore,
}

#[async_trait]
impl WebhookSender for LimitedSender {
    fn check(&self, url: &Url) -> Result<(), String> {
        self.sender.check(url)
    }

    async fn send(&self, request: &WebhookRequest) -> WebhookOutcome {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await;
        self.sender.send(request).await
    }

    async fn call_probe_receiver(&self, request: &WebhookRequest) -> Result<(), String> {
        let _permit = self.permits.acquire().await;
        self.sender.call_probe_receiver(request).await
    }
}
