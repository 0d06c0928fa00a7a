//! One transaction for many callers.

use std::sync::Arc;

use rusqlite::Connection;
use trapline_store::{Clock, Result};

use super::{
    Session,
    task::{Failure, Task},
};
use crate::{Durability, lanes::Lanes, open::synchronous};

/// Callers in one transaction.
const MOST: usize = 256;
/// Bytes in one transaction, which bounds the log and the wait of those who come next.
const MOST_BYTES: usize = 8 << 20;

/// What goes into one transaction.
#[derive(Default)]
pub(super) struct Batch {
    tasks: Vec<Box<dyn Task>>,
    bytes: usize,
}

impl Batch {
    pub(super) fn push(&mut self, task: Box<dyn Task>) {
        self.bytes += task.bytes();
        self.tasks.push(task);
    }

    pub(super) fn is_full(&self) -> bool {
        self.tasks.len() >= MOST || self.bytes >= MOST_BYTES
    }

    fn durable(&self) -> bool {
        self.tasks.iter().any(|task| task.durable())
    }
}

/// Commits batches.
pub(super) struct Committer {
    connection: Connection,
    durability: Durability,
    current: Durability,
    clock: Clock,
    lanes: Arc<Lanes>,
}

#[derive(Debug, thiserror::Error)]
#[error("SQLite rolled the transaction back")]
struct RolledBack;

impl Committer {
    pub(super) fn new(
        connection: Connection,
        durability: Durability,
        clock: Clock,
        lanes: Arc<Lanes>,
    ) -> Self {
        Self { connection, durability, current: durability, clock, lanes }
    }

    /// Runs the batch in one transaction and answers its callers.
    pub(super) fn commit(&mut self, mut batch: Batch) {
        if batch.tasks.is_empty() {
            return;
        }
        let committed = self.transact(&mut batch);
        if let Err(failure) = &committed {
            tracing::error!(error = %failure, writes = batch.tasks.len(), "commit failed");
        }
        for task in batch.tasks {
            task.answer(committed.clone());
        }
    }

    fn transact(&mut self, batch: &mut Batch) -> Result<(), Failure> {
        let wanted = if batch.durable() { self.durability } else { Durability::Process };
        self.synchronous(wanted).and_then(|()| self.execute("BEGIN IMMEDIATE")).map_err(failure)?;
        let session = Session::new(&self.connection, self.clock.now());
        for task in &mut batch.tasks {
            task.run(&session);
            if self.connection.is_autocommit() {
                return Err(Arc::new(RolledBack));
            }
        }
        let rung = session.rung();
        if let Err(error) = self.execute("COMMIT") {
            self.roll_back();
            return Err(failure(error));
        }
        for lane in rung {
            self.lanes.of(lane).notify_one();
        }
        Ok(())
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit()
            && let Err(error) = self.execute("ROLLBACK")
        {
            tracing::error!(%error, "rollback failed");
        }
    }

    fn synchronous(&mut self, wanted: Durability) -> rusqlite::Result<()> {
        if self.current != wanted {
            synchronous(&self.connection, wanted)?;
            self.current = wanted;
        }
        Ok(())
    }

    fn execute(&self, text: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(text)?.execute([]).map(drop)
    }

    /// Moves the log into the database, so that the folder can be copied, and closes the files.
    pub(super) fn close(self) {
        let moved = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if let Err(error) = moved {
            tracing::warn!(%error, "the write-ahead log stays for the next start");
        }
    }
}

fn failure(error: rusqlite::Error) -> Failure {
    Arc::new(error)
}
