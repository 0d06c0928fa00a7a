//! One transaction for many callers.

use std::{io, sync::Arc};

use rusqlite::Connection;
use trapline_store::{Clock, Result};

use super::{
    Transaction,
    checkpoints::Checkpoints,
    room::{DatabaseFiles, SpaceBudget, SpaceShare},
    task::{CommitFailure, Task},
};
use crate::{Durability, disk::Disk, lanes::LaneWakeups, open::synchronous, values::is_full};

/// Callers in one transaction.
const MAX_TASKS: usize = 256;
/// Bytes in one transaction, which bounds the log and the wait of those who come next.
const MAX_BYTES: usize = 8 << 20;

/// What goes into one transaction.
#[derive(Default)]
pub(super) struct WriteBatch {
    tasks: Vec<Box<dyn Task>>,
    bytes: usize,
}

impl WriteBatch {
    pub(super) fn push(&mut self, task: Box<dyn Task>) {
        self.bytes += task.bytes();
        self.tasks.push(task);
    }

    pub(super) fn is_full(&self) -> bool {
        self.tasks.len() >= MAX_TASKS || self.bytes >= MAX_BYTES
    }

    fn durable(&self) -> bool {
        self.tasks.iter().any(|task| task.durable())
    }

    /// What its tasks write that are never refused, in bytes.
    fn must_write(&self) -> usize {
        let always = self.tasks.iter().filter(|task| task.share() == SpaceShare::All);
        always.map(|task| task.bytes()).sum()
    }

    /// Whether each of its tasks has the room that it needs.
    fn fits(&self, mut room: SpaceBudget) -> bool {
        self.tasks.iter().all(|task| room.take(task.share(), task.bytes()))
    }
}

/// Commits batches.
pub(super) struct BatchCommitter {
    connection: Connection,
    durability: Durability,
    current: Durability,
    clock: Clock,
    lanes: Arc<LaneWakeups>,
    files: DatabaseFiles,
    checkpoints: Checkpoints,
}

#[derive(Debug, thiserror::Error)]
#[error("SQLite rolled the transaction back")]
struct RolledBack;

impl BatchCommitter {
    pub(super) fn new(
        mut connection: Connection,
        checkpoints: Connection,
        durability: Durability,
        clock: Clock,
        lanes: Arc<LaneWakeups>,
        disk: Disk,
    ) -> io::Result<Self> {
        let files = DatabaseFiles::of(&connection, disk);
        let checkpoints = Checkpoints::start(&mut connection, checkpoints)?;
        let current = durability;
        Ok(Self { connection, durability, current, clock, lanes, files, checkpoints })
    }

    /// Runs the batch in one transaction and answers its callers.
    pub(super) fn commit(&mut self, mut batch: WriteBatch) {
        if batch.tasks.is_empty() {
            return;
        }
        self.checkpoints.finish(&self.connection);
        let committed = self.transact(&mut batch);
        self.checkpoints.committed();
        if let Err(failure) = &committed {
            tracing::error!(error = %failure.source, writes = batch.tasks.len(), "commit failed");
        }
        for task in batch.tasks {
            task.answer(committed.clone());
        }
    }

    fn transact(&mut self, batch: &mut WriteBatch) -> Result<(), CommitFailure> {
        let wanted = if batch.durable() { self.durability } else { Durability::Process };
        let mut room = self.room_for(batch);
        self.synchronous(wanted)
            .and_then(|()| self.execute("BEGIN IMMEDIATE"))
            .map_err(|error| self.failure(error))?;
        let transaction = Transaction::new(&self.connection, self.clock.now(), batch.tasks.len());
        for task in &mut batch.tasks {
            if room.as_mut().is_some_and(|room| !room.take(task.share(), task.bytes())) {
                task.refuse();
                continue;
            }
            task.run(&transaction);
            if self.connection.is_autocommit() {
                return Err(CommitFailure {
                    is_full: self.files.is_full(),
                    source: Arc::new(RolledBack),
                });
            }
        }
        let Some(lanes) = transaction.woken_lanes() else {
            self.roll_back();
            return Ok(());
        };
        if let Err(error) = self.execute("COMMIT") {
            self.roll_back();
            return Err(self.failure(error));
        }
        for lane in lanes {
            self.lanes.of(lane).notify_one();
        }
        Ok(())
    }

    /// The room for a batch where there is little. The log, which otherwise keeps what it once took, then
    /// gives back what the batch needs, and stays short: it must not fill the margin.
    fn room_for(&self, batch: &WriteBatch) -> Option<SpaceBudget> {
        let ask = || self.files.room(&self.connection, batch.bytes, batch.must_write());
        let room = ask()?;
        let log = self.files.log();
        let is_well = batch.fits(room) && log <= room.longest_log();
        if is_well || !room.takes_log() {
            return Some(room);
        }
        if let Err(error) = self.checkpoint() {
            tracing::warn!(%error, "the write-ahead log was not moved into the database");
        }
        let room = ask()?;
        if batch.fits(room) || room.spare_pages() == 0 {
            return Some(room);
        }
        // What was deleted makes room in the database only, and the log needs some beside it.
        if let Err(error) = self.shrink(room.spare_pages()).and_then(|()| self.checkpoint()) {
            tracing::warn!(%error, "unused pages were not given back");
        }
        ask()
    }

    fn shrink(&self, pages: u64) -> rusqlite::Result<()> {
        let mut statement =
            self.connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    }

    fn failure(&self, error: rusqlite::Error) -> CommitFailure {
        let is_full = is_full(&error) || self.files.is_full();
        CommitFailure { is_full, source: Arc::new(error) }
    }

    /// Moves the log into the database, and makes its file empty.
    fn checkpoint(&self) -> rusqlite::Result<()> {
        let _alone = self.checkpoints.paused();
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
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
        if self.files.room(&self.connection, 0, 0).is_some_and(|room| !room.takes_log()) {
            tracing::warn!("the disk is full: the write-ahead log stays for the next start");
        } else if let Err(error) = self.checkpoint() {
            tracing::warn!(%error, "the write-ahead log stays for the next start");
        }
        self.checkpoints.stop();
    }
}
