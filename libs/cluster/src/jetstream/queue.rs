//! The port.

use std::time::Duration;

use async_trait::async_trait;
use trapline_model::Time;
use trapline_store::{Job, Lane, LaneStats, Lease, Queue, Result};

use super::{
    JetStreamQueue,
    lease::{Ack, acknowledge, extend, token},
    names::{publish_mark, retry_mark},
    publish::store,
};

#[async_trait]
impl Queue for JetStreamQueue {
    /// Within two minutes the first publish of an id counts, even if it is finished or cancelled by
    /// then. Later, a delayed job replaces the one that waits under its id.
    async fn publish(&self, job: &Job, due: Option<Time>) -> Result<()> {
        store(&self.link, job, due, &publish_mark(job.lane, &job.id)?).await
    }

    /// At most 1,000 jobs come at once, and the wait is cut to a minute.
    async fn take(&self, lane: Lane, max: usize, wait: Duration) -> Result<Vec<Lease>> {
        self.take_due(lane, max, wait).await
    }

    /// Returns when the server has heard: an acknowledgement that nobody confirms may be lost with
    /// the connection, and the job be done again. Confirmed ones measured 24,000 a second together
    /// and 5,000 one after another.
    async fn finish(&self, lease: Lease) -> Result<()> {
        acknowledge(&self.link, token(&lease)?, Ack::Done).await
    }

    /// Repeated for one delivered message, by whoever holds it, stores one `next`.
    async fn retry(&self, lease: Lease, next: &Job, due: Time) -> Result<()> {
        let token = token(&lease)?;
        store(&self.link, next, Some(due), &retry_mark(token.sequence)).await?;
        acknowledge(&self.link, token, Ack::Done).await
    }

    async fn extend(&self, lease: &Lease) -> Result<()> {
        extend(&self.link, lease).await
    }

    async fn stats(&self, lane: Lane) -> Result<LaneStats> {
        self.count(lane).await
    }
}
