//! Housekeeping jobs: what a request started and need not wait for.

use trapline_store::Job;

use super::Maintenance;
use crate::{Result, inboxes::HousekeepingWork, jobs};

impl Maintenance {
    /// Does a job of [`Lane::Housekeeping`](crate::Lane::Housekeeping).
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`](crate::Error::Conflict) for a purge, for as long as the inbox is there: the
    /// request that deletes it stores this job first.
    pub async fn housekeep(&self, job: &Job) -> Result<()> {
        match jobs::work(job)? {
            HousekeepingWork::Purge { team, inbox, username } => {
                self.inboxes.purge_deleted(team, inbox, username.as_deref()).await
            }
        }
    }
}
