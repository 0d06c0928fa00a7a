//! Jobs that make one attempt at something: claim the row, do the input and output, record the outcome.

use async_trait::async_trait;
use trapline_app::{Claimed, Error, Job, Lane};

use crate::handler::{JobHandler, JobOutcome};

/// A kind of job that makes one attempt at what a row asks for. The use cases claim and record; the job
/// itself only does the input and output between the two.
#[async_trait]
pub trait AttemptedJob: Send + Sync {
    /// The lane whose jobs it takes.
    const LANE: Lane;
    /// How many jobs run at once at most.
    const CONCURRENCY: usize;
    /// What an attempt needs. Dropping it gives up the claim.
    type Attempt: Send;
    /// How an attempt ended.
    type Outcome: Send;

    /// Finds out whether the attempt is still to be made, and makes it this process's own.
    ///
    /// # Errors
    ///
    /// When a backend does not answer; the job comes again.
    async fn claim(&self, job: &Job) -> Result<Claimed<Self::Attempt>, Error>;
    /// Makes the attempt.
    async fn perform(&self, attempt: &mut Self::Attempt) -> Self::Outcome;
    /// Records how the attempt ended, and returns the job of the next one, if there is one.
    ///
    /// # Errors
    ///
    /// When a backend does not answer; the attempt is then made again.
    async fn record(
        &self,
        attempt: Self::Attempt,
        outcome: Self::Outcome,
    ) -> Result<Option<Job>, Error>;
}

#[async_trait]
impl<J: AttemptedJob> JobHandler for J {
    fn lane(&self) -> Lane {
        J::LANE
    }

    fn concurrency(&self) -> usize {
        J::CONCURRENCY
    }

    async fn run(&self, job: &Job) -> Result<JobOutcome, Error> {
        let mut attempt = match self.claim(job).await? {
            Claimed::Run(attempt) => attempt,
            Claimed::Reschedule(next) => return Ok(JobOutcome::Reschedule(next)),
            Claimed::Finished => return Ok(JobOutcome::Complete),
        };
        let outcome = self.perform(&mut attempt).await;
        self.record(*attempt, outcome).await.map(JobOutcome::from)
    }
}
