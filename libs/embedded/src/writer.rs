//! The one thread that writes, and commits once for all that waits.

mod batch;
mod checkpoints;
mod room;
mod task;
#[cfg(test)]
mod tests;
mod transaction;

use std::{io, sync::Arc, thread};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use trapline_store::{Clock, PortError, Result};

use crate::{Durability, disk::Disk, lanes::LaneWakeups};
use batch::{BatchCommitter, WriteBatch};
pub(crate) use room::SpaceShare;
use task::{Pending, Task};
pub(crate) use transaction::Transaction;

/// Writes that wait to be picked up; further callers wait for a place.
const QUEUE_CAPACITY: usize = 1024;

enum WriterRequest {
    Task(Box<dyn Task>),
    Stop(oneshot::Sender<()>),
}

/// Hands work to the writing thread.
pub(crate) struct Writer {
    queue: mpsc::Sender<WriterRequest>,
}

#[derive(Debug, thiserror::Error)]
#[error("the database is closed")]
struct Closed;

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(
        connection: Connection,
        checkpoints: Connection,
        durability: Durability,
        clock: Clock,
        lanes: Arc<LaneWakeups>,
        disk: Disk,
    ) -> io::Result<Self> {
        let (queue, inbox) = mpsc::channel(QUEUE_CAPACITY);
        let committer =
            BatchCommitter::new(connection, checkpoints, durability, clock, lanes, disk)?;
        thread::Builder::new().name("sqlite-writer".to_owned()).spawn(move || {
            write(committer, inbox);
        })?;
        Ok(Self { queue })
    }

    /// Runs `work` in the next commit and answers when that is done.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        durable: bool,
        bytes: usize,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.run_within(SpaceShare::All, durable, bytes, work).await
    }

    /// The same, unless the disk has no more room for this share of it.
    pub(crate) async fn run_within<T: Send + 'static>(
        &self,
        share: SpaceShare,
        durable: bool,
        bytes: usize,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (task, answer) = Pending::new(share, durable, bytes, work);
        let sent = self.queue.send(WriterRequest::Task(Box::new(task))).await;
        sent.map_err(|_| PortError::unavailable(Closed))?;
        answer.await.unwrap_or_else(|_| Err(PortError::unavailable(Closed)))
    }

    /// Whether writes are taken.
    pub(crate) fn is_open(&self) -> bool {
        !self.queue.is_closed()
    }

    /// Returns when the thread takes no more work: after [`Writer::close`], or because it broke.
    pub(crate) async fn ended(&self) {
        self.queue.closed().await;
    }

    /// Commits what waits, ends the thread, and returns when the files are closed.
    pub(crate) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.queue.send(WriterRequest::Stop(done)).await.is_ok() {
            // An error means that the thread is gone, which is what we wait for.
            closed.await.unwrap_or_default();
        }
    }
}

/// The thread: runs until it is told to stop or nobody can hand in any more.
fn write(mut committer: BatchCommitter, mut inbox: mpsc::Receiver<WriterRequest>) {
    let mut stopped = None;
    while let Some(message) = inbox.blocking_recv() {
        let mut batch = WriteBatch::default();
        let mut next = Some(message);
        while let Some(message) = next {
            match message {
                WriterRequest::Task(task) => batch.push(task),
                WriterRequest::Stop(done) => {
                    // What is in the queue already is still received and committed.
                    inbox.close();
                    stopped = Some(done);
                }
            }
            next = if batch.is_full() { None } else { inbox.try_recv().ok() };
        }
        committer.commit(batch);
    }
    committer.close();
    drop(stopped);
}
