//! Jobs of probes: each goes through a lane, and the process that takes it records that it was done.

use std::time::Duration;

use tokio::sync::Mutex;
use trapline_model::Time;
use trapline_store::{Job, Lane};

use super::Status;
use crate::{
    Result,
    jobs::{self, HousekeepingWork},
    webhooks::probe_work,
};

/// Shortest time between two round trips of a single process, where each job is a write to the disk.
pub(super) const ALONE_INTERVAL: Duration = Duration::from_mins(10);
/// How long a probe waits for the job that the one before published.
const DONE_TIMEOUT: Duration = Duration::from_millis(250);
/// Time between two reads while it waits.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// A job that was not done for so long counts as lost, and another one is published.
const LOST_AFTER: Duration = Duration::from_mins(5);

/// The job of a probe in one lane.
#[derive(Default)]
pub(super) struct RoundTrip(Mutex<TripState>);

#[derive(Default)]
struct TripState {
    /// The id of the job that is to be done by the next probe, and when it was published.
    published: Option<(String, Time)>,
    /// When a job was last found done.
    done_at: Option<Time>,
}

impl Status {
    /// Checks that the job of the last probe was done, and publishes the next one.
    pub(super) async fn probe_round_trip(
        &self,
        lane: Lane,
        trip: &RoundTrip,
    ) -> Result<(), String> {
        let mut state = trip.0.lock().await;
        let now = self.clock.now();
        if let Some((id, at)) = &state.published {
            if !self.was_done(lane, id).await? {
                let age = now.since(*at);
                if age >= LOST_AFTER {
                    state.published = Some((self.publish_probe(lane).await?, now));
                }
                return Err(format!("a job of {} s ago was not done", age.as_secs()));
            }
            (state.published, state.done_at) = (None, Some(now));
        }
        let is_due = state.done_at.is_none_or(|at| now.since(at) >= ALONE_INTERVAL);
        if is_due || !self.is_alone {
            state.published = Some((self.publish_probe(lane).await?, now));
        }
        Ok(())
    }

    async fn was_done(&self, lane: Lane, id: &str) -> Result<bool, String> {
        let done = async {
            loop {
                match self.heartbeats.probe_done(lane).await {
                    Ok(Some(done)) if done == id => return Ok(()),
                    Ok(_) => tokio::time::sleep(POLL_INTERVAL).await,
                    Err(error) => return Err(error.to_string()),
                }
            }
        };
        match tokio::time::timeout(DONE_TIMEOUT, done).await {
            Ok(found) => found.map(|()| true),
            Err(_) => Ok(false),
        }
    }

    async fn publish_probe(&self, lane: Lane) -> Result<String, String> {
        let id = format!("probe:{}", self.ids.next());
        let job = self.probe_job(lane, id.clone()).map_err(|error| error.to_string())?;
        self.jobs.schedule(&job).await.map_err(|error| error.to_string())?;
        Ok(id)
    }

    fn probe_job(&self, lane: Lane, id: String) -> trapline_store::Result<Job> {
        let now = self.clock.now();
        match lane {
            Lane::Webhook => jobs::job(lane, id, 1, probe_work(now.after(LOST_AFTER)), now),
            _ => jobs::job(Lane::Housekeeping, id, 1, HousekeepingWork::Probe, now),
        }
    }
}
