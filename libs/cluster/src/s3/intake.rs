//! The receiving path's commit: clean-up's rows, bytes, messages' rows, job, in this order.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::time::timeout;
use trapline_store::{Group, Intake, Job, Key, Op, PortError, Queue, Result, When, Writes};

use super::Segments;

/// The longest that the removal of half-written rows takes.
const UNDO_TIMEOUT: Duration = Duration::from_secs(3);

/// Writes many rows at once.
#[async_trait]
pub trait RowWriter: Send + Sync {
    /// Writes to plain tables, in no order. Durable and visible to every reader when it returns;
    /// after an error any of them may have been applied.
    async fn write_unordered(&self, ops: Vec<Op>) -> Result<()>;
}

/// Commits groups to a cluster.
///
/// The rows that clean-up goes by are written first, so bytes without rows are found. The bytes come
/// before the rows that refer to them, so every row that can be seen has its bytes. The job comes
/// last.
pub struct ClusterIntake {
    segments: Arc<Segments>,
    rows: Arc<dyn RowWriter>,
    queue: Arc<dyn Queue>,
}

impl ClusterIntake {
    /// An intake over these.
    #[must_use]
    pub fn new(segments: Arc<Segments>, rows: Arc<dyn RowWriter>, queue: Arc<dyn Queue>) -> Self {
        Self { segments, rows, queue }
    }

    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        if ops.is_empty() { Ok(()) } else { self.rows.write_unordered(ops).await }
    }

    /// Publishes the job without waiting for it: the outbox, whose row is among the group's, has what
    /// does not get there.
    fn announce(&self, job: Job) {
        let queue = Arc::clone(&self.queue);
        tokio::spawn(async move {
            if let Err(error) = queue.publish(&job, None).await {
                tracing::warn!(%error, job.id, "a job was not published; the outbox has it");
            }
        });
    }

    /// Removes what a failed commit may have written of its rows. What stays is a message that its
    /// sender sends again; its bytes are there.
    async fn undo(&self, written: Vec<Key>) {
        let delete = |key| Op::Delete { key, when: When::Always };
        let count = written.len();
        let deletes = self.write(written.into_iter().map(delete).collect());
        let outcome = timeout(UNDO_TIMEOUT, deletes).await.unwrap_or(Err(PortError::Timeout));
        if let Err(error) = outcome {
            tracing::warn!(%error, rows = count, "rows of a failed commit may be left");
        }
    }
}

#[async_trait]
impl Intake for ClusterIntake {
    async fn commit(&self, group: Group) -> Result<()> {
        let Group { segment, bytes, before, rows, job } = group;
        let guarded = |op: &Op| op.key().table.writes == Writes::Guarded;
        if before.iter().chain(&rows).any(guarded) {
            return Err(PortError::Misuse("a group's row of a guarded table"));
        }
        self.write(before).await?;
        self.segments.put(&segment, bytes).await?;
        let keys = rows.iter().map(|op| op.key().clone()).collect();
        let outcome = self.write(rows).await;
        match (&outcome, job) {
            (Err(_), _) => self.undo(keys).await,
            (Ok(()), Some(job)) => self.announce(job),
            (Ok(()), None) => {}
        }
        outcome
    }
}
