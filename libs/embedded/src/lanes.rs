//! Wakes workers who wait for jobs.

use tokio::sync::Notify;
use trapline_store::Lane;

/// One bell per lane.
#[derive(Default)]
pub(crate) struct Lanes([Notify; Lane::ALL.len()]);

impl Lanes {
    /// The lane's bell.
    pub(crate) fn of(&self, lane: Lane) -> &Notify {
        &self.0[lane as usize]
    }
}
