//! Jobs that this process cannot do: they are put back into the queue for a process that can.

use std::time::Duration;

use trapline_store::{Job, PortError};

use super::{Jobs, body};
use crate::{Error, Result, error::Fault, log_throttle::LogThrottle, metrics};

/// When a job that was put back comes again: after this, then after twice as long each time.
const FIRST_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_hours(1);

/// What another process has, and this one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingCapability {
    /// A relay to send mail through.
    Relay,
    /// Support for the job's kind of work, which a later release has.
    KindOfWork,
}

impl MissingCapability {
    /// A word for logs and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Relay => "relay",
            Self::KindOfWork => "kind of work",
        }
    }

    /// How often a job is put back at most: for about an hour without a relay, for two weeks without a
    /// later release.
    fn max_put_backs(self) -> u32 {
        match self {
            Self::Relay => 12,
            Self::KindOfWork => 12 + 14 * 24,
        }
    }
}

impl Error {
    /// Whether a job's body does not decode, as that of a later release.
    #[must_use]
    pub fn is_unknown_work(&self) -> bool {
        let Self::Internal(Fault { source, .. }) = self else { return false };
        matches!(source, PortError::Corrupt { table: body::TABLE, .. })
    }
}

impl Jobs {
    /// The job that takes the place of one which this process cannot do; none once it was put back too
    /// often.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if the job has no time at which it is due.
    pub fn put_back(&self, job: &Job, lacking: MissingCapability) -> Result<Option<Job>> {
        static LINE: LogThrottle = LogThrottle::new();
        let (what, times) = (lacking.name(), body::times_put_back(job)?);
        if times >= lacking.max_put_backs() {
            metrics::job_put_back(job.lane, what, "given_up");
            tracing::error!(lacking = what, job.id, "a job is given up that no process can do");
            return Ok(None);
        }
        metrics::job_put_back(job.lane, what, "put_back");
        if let Some(left_out) = LINE.due() {
            tracing::warn!(lacking = what, job.id, left_out, "a job is left to another process");
        }
        let delay = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(times)).min(MAX_DELAY);
        Ok(Some(body::put_back(job, self.now().after(delay))?))
    }
}
