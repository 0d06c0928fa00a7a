//! Clean-up that a request started and need not wait for.

use std::sync::Arc;

use async_trait::async_trait;
use trapline_app::{App, Error, Job, Lane};

use crate::handler::{JobFailure, JobHandler, JobOutcome, Retry};

/// Each is a few writes, and nobody waits for them.
const CONCURRENCY: usize = 16;

/// Cleans up what a request left behind.
pub struct Housekeeping(Arc<App>);

impl Housekeeping {
    /// Over the application whose rows are cleaned up.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        Self(app)
    }
}

#[async_trait]
impl JobHandler for Housekeeping {
    fn lane(&self) -> Lane {
        Lane::Housekeeping
    }

    fn concurrency(&self) -> usize {
        CONCURRENCY
    }

    async fn run(&self, job: &Job) -> Result<JobOutcome, Error> {
        self.0.maintenance().housekeep(job).await.map(JobOutcome::from)
    }

    fn retry(&self, failure: &JobFailure) -> Retry {
        match failure {
            // The inbox or the team is still there: its delete was cut off, and a repeated one plans this
            // again.
            JobFailure::Error(Error::Conflict) => Retry::Counted,
            failure => Retry::by_default(failure),
        }
    }
}
