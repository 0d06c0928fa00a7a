//! Clean-up that a request started and need not wait for.

use std::sync::Arc;

use async_trait::async_trait;
use trapline_app::{App, Error, Job, Lane};

use crate::{
    arrivals::after_outage,
    lanes::{Ended, Handler},
};

/// Each is a few writes, and nobody waits for them.
const AT_ONCE: usize = 16;

/// Works on [`Lane::Housekeeping`].
pub struct Housekeeping(Arc<App>);

impl Housekeeping {
    /// Over the application whose rows are cleaned up.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        Self(app)
    }
}

#[async_trait]
impl Handler for Housekeeping {
    fn lane(&self) -> Lane {
        Lane::Housekeeping
    }

    fn at_once(&self) -> usize {
        AT_ONCE
    }

    async fn run(&self, job: &Job) -> Result<Ended, Error> {
        match self.0.maintenance().housekeep(job).await {
            Ok(()) => Ok(Ended::Done),
            // The inbox is still there: its delete was cut off, and a repeated one plans this again.
            Err(Error::Conflict) => Err(Error::Conflict),
            Err(error) => after_outage(&self.0, job, error),
        }
    }
}
