//! What arrived mail sets off.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use trapline_app::{App, Error, Job, Lane};

use crate::lanes::{Ended, Handler};

/// Each job is a group of mails, whose messages it reads several at a time.
const AT_ONCE: usize = 8;
const PAUSE: Duration = Duration::from_secs(30);

/// Works on [`Lane::Received`].
pub struct Arrivals(Arc<App>);

impl Arrivals {
    /// Over the application whose mail arrives.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        Self(app)
    }
}

#[async_trait]
impl Handler for Arrivals {
    fn lane(&self) -> Lane {
        Lane::Received
    }

    fn at_once(&self) -> usize {
        AT_ONCE
    }

    async fn run(&self, job: &Job) -> Result<Ended, Error> {
        match self.0.arrivals().start(job).await {
            Ok(next) => Ok(next.map_or(Ended::Done, Ended::Again)),
            Err(error) => after_outage(&self.0, job, error),
        }
    }
}

/// Tries again for as long as a backend is away. What a row says is to happen must not be given up
/// because of that; any other fault is the lane's to count.
pub(crate) fn after_outage(app: &App, job: &Job, error: Error) -> Result<Ended, Error> {
    if !error.is_outage() && !matches!(error, Error::Conflict) {
        return Err(error);
    }
    tracing::warn!(%error, job.id, "a job waits for a backend");
    Ok(Ended::Again(app.jobs().delayed(job, PAUSE)?))
}
