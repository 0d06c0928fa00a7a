//! Wakes workers who wait for jobs.

use tokio::sync::Notify;
use trapline_store::Lane;

/// One notification for each lane.
#[derive(Default)]
pub(crate) struct LaneWakeups([Notify; Lane::ALL.len()]);

impl LaneWakeups {
    /// What wakes the workers of a lane.
    pub(crate) fn of(&self, lane: Lane) -> &Notify {
        &self.0[lane as usize]
    }
}
