//! Jobs of arrived mail: they start what webhooks and forwarding rules ask for.

use std::sync::Arc;

use trapline_store::Job;

use crate::{
    Forwarding, Result, Webhooks,
    jobs::{self, Jobs, MissingCapability},
    receive::Arrival,
};

/// Starts deliveries and forwards of arrived mail.
pub struct Arrivals {
    jobs: Jobs,
    webhooks: Arc<Webhooks>,
    forwarding: Arc<Forwarding>,
}

impl Arrivals {
    pub(crate) fn new(jobs: Jobs, webhooks: Arc<Webhooks>, forwarding: Arc<Forwarding>) -> Self {
        Self { jobs, webhooks, forwarding }
    }

    /// Does a job of [`Lane::Received`](crate::Lane::Received). Doing it again changes nothing. Returns
    /// the job that takes this one's place where the rest is left to another process.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`](crate::Error::Unavailable) while a port does not answer; a job of a later
    /// release is not read.
    pub async fn start(&self, job: &Job) -> Result<Option<Job>> {
        let arrivals: Vec<Arrival> = jobs::work(job)?;
        let new: Vec<_> =
            arrivals.iter().filter(|arrival| !arrival.deliveries_started).cloned().collect();
        self.webhooks.start_deliveries_of(&new).await?;
        let mut left = self.forwarding.start_forwards_of(&arrivals).await?;
        if left.is_empty() {
            return Ok(None);
        }
        for arrival in &mut left {
            arrival.deliveries_started = true;
        }
        self.jobs.put_back(&jobs::with_work(job, left)?, MissingCapability::Relay)
    }
}
