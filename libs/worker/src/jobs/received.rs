//! Jobs of mail that arrived: they start deliveries to webhooks, and forwards.

use std::sync::Arc;

use async_trait::async_trait;
use trapline_app::{App, Error, Job, Lane};

use crate::handler::{JobHandler, JobOutcome};

/// Each job is a group of mails, whose messages it reads several at a time.
const CONCURRENCY: usize = 8;

/// Starts what arrived mail calls for.
pub struct ReceivedMail(Arc<App>);

impl ReceivedMail {
    /// Over the application whose mail arrives.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        Self(app)
    }
}

#[async_trait]
impl JobHandler for ReceivedMail {
    fn lane(&self) -> Lane {
        Lane::Received
    }

    fn concurrency(&self) -> usize {
        CONCURRENCY
    }

    async fn run(&self, job: &Job) -> Result<JobOutcome, Error> {
        self.0.arrivals().start(job).await.map(JobOutcome::from)
    }
}
