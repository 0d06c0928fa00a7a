//! What comes of claiming a job whose row says whether it is still to be done.

use std::time::Duration;

use trapline_store::{Job, Result};

use super::{Jobs, due, rescheduled_at};

/// How long a job waits for another one of this process that works on the same row.
pub(crate) const CLAIM_RETRY_DELAY: Duration = Duration::from_secs(15);
/// How long after its due time a job may be there before its row is.
const ROW_DELAY: Duration = Duration::from_mins(1);
/// When a job is looked at again whose row is not there yet.
const ROW_RETRY_DELAY: Duration = Duration::from_secs(1);

/// Result of claiming a job.
#[derive(Debug)]
pub enum Claimed<A> {
    /// The attempt is this process's own: make it, and record how it ended.
    Run(Box<A>),
    /// The attempt is not to be made now; this job takes the other's place.
    Reschedule(Job),
    /// Nothing is left to be done.
    Finished,
}

impl Jobs {
    /// Result of claiming a job while another job of this process works on its row.
    pub(crate) fn claimed_elsewhere<A>(&self, job: &Job) -> Result<Claimed<A>> {
        rescheduled_at(job, self.clock.now().after(CLAIM_RETRY_DELAY)).map(Claimed::Reschedule)
    }

    /// Result of claiming a job whose row is not there: it comes again in 1 s, for up to a minute
    /// after its due time. Where the queue is quicker than the store, a job may be there before its
    /// row is.
    pub(crate) fn without_row<A>(&self, job: &Job) -> Result<Claimed<A>> {
        if !self.may_be_ahead_of_its_row(job)? {
            return Ok(Claimed::Finished);
        }
        rescheduled_at(job, self.clock.now().after(ROW_RETRY_DELAY)).map(Claimed::Reschedule)
    }

    /// The job that looks again for what is to be done, for up to a minute after the due time; then none.
    pub(crate) fn later_without_row(&self, job: &Job) -> Result<Option<Job>> {
        match self.without_row::<()>(job)? {
            Claimed::Reschedule(next) => Ok(Some(next)),
            Claimed::Run(_) | Claimed::Finished => Ok(None),
        }
    }

    /// Whether a job's row may still become visible.
    pub(crate) fn may_be_ahead_of_its_row(&self, job: &Job) -> Result<bool> {
        Ok(self.clock.now().since(due(job)?) < ROW_DELAY)
    }
}
