//! What the worker knows of a kind of job: its lane, how many run at once, what a job does, and when
//! one that failed is tried again.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use trapline_app::{Error, Job, Lane};

/// When a job is tried again that a backend's outage stopped.
const OUTAGE_DELAY: Duration = Duration::from_secs(30);

/// The outcome of a job that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobOutcome {
    /// The job is removed.
    Complete,
    /// This job takes its place, at the due time in its body.
    Reschedule(Job),
}

impl From<Option<Job>> for JobOutcome {
    fn from(next: Option<Job>) -> Self {
        next.map_or(Self::Complete, Self::Reschedule)
    }
}

/// Why a job has no outcome.
#[derive(Debug)]
pub enum JobFailure {
    /// The handler returned an error.
    Error(Error),
    /// The handler panicked.
    Panic,
}

impl JobFailure {
    /// Whether the same job may go well later by itself: a backend is away, or others change the same
    /// row.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Error(error) => error.is_outage() || matches!(error, Error::Conflict),
            Self::Panic => false,
        }
    }
}

impl fmt::Display for JobFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::Panic => f.write_str("the handler panicked"),
        }
    }
}

/// When a job that failed is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// In 30 s, ten times in all; then it is given up.
    Counted,
    /// After this time, however often it takes.
    Uncounted(Duration),
}

impl Retry {
    /// Does not count transient failures: what a row says is to happen must not be given up because of
    /// an outage. Any other failure is counted.
    #[must_use]
    pub fn by_default(failure: &JobFailure) -> Self {
        if failure.is_transient() { Self::Uncounted(OUTAGE_DELAY) } else { Self::Counted }
    }
}

/// Does the jobs of one lane. A job may come more than once: doing it again must be harmless.
///
/// Jobs that make one attempt at something implement [`AttemptedJob`](crate::AttemptedJob) instead.
#[async_trait]
pub trait JobHandler: Send + Sync {
    /// The lane whose jobs it takes.
    fn lane(&self) -> Lane;
    /// How many jobs run at once at most; one if this is 0.
    fn concurrency(&self) -> usize;
    /// Does a job.
    ///
    /// # Errors
    ///
    /// When it could not be done; [`JobHandler::retry`] says when it is tried again. A job of a later
    /// release is left to a process of that.
    async fn run(&self, job: &Job) -> Result<JobOutcome, Error>;
    /// When a job that failed, or whose handler panicked, is tried again.
    fn retry(&self, failure: &JobFailure) -> Retry {
        Retry::by_default(failure)
    }
}
