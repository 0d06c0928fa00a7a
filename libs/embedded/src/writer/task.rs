//! A write that waits for its commit.

use std::{error::Error, sync::Arc};

use tokio::sync::oneshot;
use trapline_store::{PortError, Result};

use super::{SpaceShare, Transaction};

/// Why a whole batch failed; each of its callers is told.
#[derive(Debug, Clone)]
pub(super) struct CommitFailure {
    /// Whether it was for want of room on the disk.
    pub(super) is_full: bool,
    pub(super) source: Arc<dyn Error + Send + Sync>,
}

/// A unit of work for the writer.
pub(super) trait Task: Send {
    /// Whether its commit must reach the disk.
    fn durable(&self) -> bool;
    /// About how much it writes.
    fn bytes(&self) -> usize;
    /// How much of the disk it may take.
    fn share(&self) -> SpaceShare;
    /// Answers, once the batch is over, that the disk has no room for it.
    fn refuse(&mut self);
    /// Does the work within the batch's transaction.
    fn run(&mut self, transaction: &Transaction<'_>);
    /// Tells the caller, once it is known whether the transaction was committed.
    fn answer(self: Box<Self>, committed: Result<(), CommitFailure>);
}

/// The work of one caller, and later its outcome.
pub(super) struct Pending<T, F> {
    share: SpaceShare,
    durable: bool,
    bytes: usize,
    work: Option<F>,
    outcome: Option<Result<T>>,
    caller: oneshot::Sender<Result<T>>,
}

#[derive(Debug, thiserror::Error)]
#[error("the write was not run")]
struct NotRun;

impl<T, F> Pending<T, F> {
    /// The task, and where its answer comes.
    pub(super) fn new(
        share: SpaceShare,
        durable: bool,
        bytes: usize,
        work: F,
    ) -> (Self, oneshot::Receiver<Result<T>>) {
        let (caller, answer) = oneshot::channel();
        (Self { share, durable, bytes, work: Some(work), outcome: None, caller }, answer)
    }
}

impl<T: Send, F: FnOnce(&Transaction<'_>) -> Result<T> + Send> Task for Pending<T, F> {
    fn durable(&self) -> bool {
        self.durable
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn share(&self) -> SpaceShare {
        self.share
    }

    fn refuse(&mut self) {
        self.outcome = Some(Err(PortError::StorageFull));
    }

    fn run(&mut self, transaction: &Transaction<'_>) {
        self.outcome = self.work.take().map(|work| work(transaction));
    }

    fn answer(self: Box<Self>, committed: Result<(), CommitFailure>) {
        let answer = match committed {
            Ok(()) => self.outcome.unwrap_or_else(|| Err(PortError::unavailable(NotRun))),
            Err(failure) if failure.is_full => Err(PortError::StorageFull),
            Err(failure) => Err(PortError::unavailable(failure.source)),
        };
        // A caller who has gone away does not undo the write.
        drop(self.caller.send(answer));
    }
}
