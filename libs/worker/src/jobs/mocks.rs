//! Jobs of mocks: what calls emitted is sent to the app.

use std::sync::Arc;

use async_trait::async_trait;
use trapline_app::{App, Error, Job, Lane};

use crate::handler::{JobHandler, JobOutcome};

/// Each waits for somebody's endpoint.
const CONCURRENCY: usize = 64;

/// Sends what mocks tell of.
pub struct MockDeliveries(Arc<App>);

impl MockDeliveries {
    /// Over the application whose mocks are called.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        Self(app)
    }
}

#[async_trait]
impl JobHandler for MockDeliveries {
    fn lane(&self) -> Lane {
        Lane::Mock
    }

    fn concurrency(&self) -> usize {
        CONCURRENCY
    }

    async fn run(&self, job: &Job) -> Result<JobOutcome, Error> {
        self.0.mocks().send(job).await.map(JobOutcome::from)
    }
}
