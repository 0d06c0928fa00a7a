//! Runs maintenance tasks: each is due at a time, done, and removed. One that fails is put off alone.

use std::{
    panic::AssertUnwindSafe,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures_util::{FutureExt as _, StreamExt as _, stream};
use tokio::time::Instant;
use trapline_model::Time;
use trapline_store::{
    Op, PortError, Record, Row, When,
    records::{MaintenanceTask, TaskKind, TaskQueue},
};

use super::{UNKNOWN_WORK_DELAY, reader::JanitorQueue, segments::Compaction, shard::Shard};
use crate::{Error, Result, maintenance::Maintenance, metrics, rows::write_all};

/// Tasks of a shard that are under way at the same time.
const MAX_CONCURRENT_TASKS: usize = 8;
/// Changes that are stored together at most, beside those of one page.
const MAX_BATCH: usize = 400;
/// When a task is tried again by how often it failed; the first is for outages.
const BACKOFF: [Duration; 7] = [
    Duration::from_mins(1),
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(15),
    Duration::from_hours(1),
    Duration::from_hours(3),
    Duration::from_hours(6),
];
/// When a task is tried again that failed more often.
const PARKED_DELAY: Duration = Duration::from_hours(24);

/// When a task about a segment is looked at again that a backup put off.
const AFTER_BACKUP: Duration = Duration::from_hours(1);

/// Whether a task was done, and what is to be written now.
type TaskResult = (bool, Vec<Op>);

impl Maintenance {
    /// Does the tasks of a shard that are due, until all are done or time runs out. What is to be written
    /// is added to `changes`. Returns how many were done, and whether time ran out.
    pub(super) async fn run_tasks(
        &self,
        shard: &mut Shard,
        queue: TaskQueue,
        until: Instant,
        changes: &mut Vec<Op>,
    ) -> Result<(usize, bool)> {
        let (mut done, blobs_unavailable) = (0, AtomicBool::new(false));
        // What becomes due meanwhile is the next round's: there would be no end while a read takes time.
        let now = self.clock.now();
        while shard.holds_lease(self).await? {
            let page = shard.reader(JanitorQueue::Tasks(queue)).next_page(self, now, now).await?;
            let Some(page) = page else { return Ok((done, false)) };
            let work: Vec<_> =
                page.rows.iter().map(|row| self.run_task(queue, row, &blobs_unavailable)).collect();
            let results: Vec<_> =
                stream::iter(work).buffer_unordered(MAX_CONCURRENT_TASKS).collect().await;
            for outcome in results {
                let (was_done, ops) = outcome?;
                done += usize::from(was_done);
                changes.extend(ops);
            }
            shard.reader(JanitorQueue::Tasks(queue)).pass(&page);
            if changes.len() > MAX_BATCH
                && let Err(error) = self.write_changes(changes).await
            {
                shard.reader(JanitorQueue::Tasks(queue)).forget();
                return Err(error);
            }
            if Instant::now() >= until {
                return Ok((done, true));
            }
        }
        Ok((done, false))
    }

    /// Stores what came of tasks: first where they are due next, then that they are not due now.
    pub(super) async fn write_changes(&self, changes: &mut Vec<Op>) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let (puts, deletes): (Vec<_>, Vec<_>) =
            changes.drain(..).partition(|op| matches!(op, Op::Put { .. }));
        if self.commits_partitions_together() {
            return self.write_together([puts, deletes].concat()).await;
        }
        self.write_together(puts).await?;
        self.write_together(deletes).await
    }

    /// Writes rows with as little to wait for as the store allows: in one commit, or all at once.
    pub(super) async fn write_together(&self, ops: Vec<Op>) -> Result<()> {
        if ops.is_empty() {
            return Ok(());
        }
        if self.commits_partitions_together() {
            return Ok(self.store.write(ops).await?);
        }
        Ok(write_all(&*self.store, ops).await?)
    }

    /// Does a task, or puts it off so that it is in no other's way. Once `blobs_unavailable`, nothing waits
    /// for them again.
    async fn run_task(
        &self,
        queue: TaskQueue,
        row: &Row,
        blobs_unavailable: &AtomicBool,
    ) -> Result<TaskResult> {
        let task = match MaintenanceTask::of(row) {
            Ok(task) => task,
            Err(error) => {
                // It may be a newer release's, whose document is kept as it is.
                tracing::warn!(%error, task = ?row.sort, "a task of another release waits");
                metrics::task_done("unknown");
                let due = self.clock.now().after(UNKNOWN_WORK_DELAY);
                return Ok((false, moved_to(queue, row, due, row.doc.clone())));
            }
        };
        let reads_blobs = queue == TaskQueue::Segments;
        let outcome = if reads_blobs && blobs_unavailable.load(Ordering::Relaxed) {
            Err(Error::Unavailable)
        } else {
            let performed = AssertUnwindSafe(self.perform(&task)).catch_unwind().await;
            performed.unwrap_or_else(|_| Err(PortError::Misuse("a task panicked").into()))
        };
        match outcome {
            Ok(next) => {
                metrics::task_done("ok");
                let mut ops = vec![delete(queue, row)];
                if let Some(next) = next {
                    ops.push(next.planned()?);
                }
                Ok((true, ops))
            }
            Err(error) => {
                if reads_blobs && error.is_outage() {
                    blobs_unavailable.store(true, Ordering::Relaxed);
                }
                self.put_off(queue, row, task, &error)
            }
        }
    }

    /// Schedules a failed task again. A failure by an outage does not count as an attempt.
    fn put_off(
        &self,
        queue: TaskQueue,
        row: &Row,
        task: MaintenanceTask,
        error: &Error,
    ) -> Result<TaskResult> {
        let attempt = if error.is_outage() { task.attempt } else { task.attempt + 1 };
        let (outcome, pause) = match BACKOFF.get(attempt as usize) {
            Some(pause) => ("failed", *pause),
            None => ("parked", PARKED_DELAY),
        };
        metrics::task_done(outcome);
        if outcome == "parked" {
            tracing::error!(%error, task = task.subject, "a task fails again and again");
        } else {
            tracing::warn!(%error, task = task.subject, "a task is tried again later");
        }
        let due = self.clock.now().after(pause);
        let doc = MaintenanceTask { due, attempt, ..task }.doc()?;
        Ok((false, moved_to(queue, row, due, doc)))
    }

    /// Does a task; the one that follows it, if any.
    async fn perform(&self, task: &MaintenanceTask) -> Result<Option<MaintenanceTask>> {
        if task.task.queue() == TaskQueue::Segments && self.backup_is_running().await? {
            return Ok(Some(after_backup(task, self.clock.now())));
        }
        match &task.task {
            TaskKind::ExpireInbox { team, inbox, username } => {
                self.inboxes.expire(*team, *inbox, username).await.map(|()| None)
            }
            TaskKind::ExpireMock { team, mock } => {
                self.mocks.expire(*team, *mock).await.map(|()| None)
            }
            TaskKind::CheckSegment { visits, aliases } => {
                self.check_segment(&task.subject, *visits, aliases).await
            }
            TaskKind::ReviewSegment {} => {
                self.review_segment(&task.subject, Compaction::OfHalfDead).await.map(|()| None)
            }
            TaskKind::EraseSegment {} => {
                self.review_segment(&task.subject, Compaction::OfAnyDead).await.map(|()| None)
            }
            TaskKind::RemoveSegment { aliases } => {
                self.remove_segment(&task.subject, aliases).await.map(|()| None)
            }
        }
    }
}

/// The same task at a time when a backup may be over.
fn after_backup(task: &MaintenanceTask, now: Time) -> MaintenanceTask {
    let (later, subject) = (now.after(AFTER_BACKUP), task.subject.clone());
    let due = match task.task {
        TaskKind::ReviewSegment {} => MaintenanceTask::review_at(&subject, later),
        TaskKind::EraseSegment {} => MaintenanceTask::erase_at(&subject, later),
        _ => later,
    };
    MaintenanceTask::new(due, subject, task.task.clone())
}

fn moved_to(queue: TaskQueue, row: &Row, due: Time, doc: String) -> Vec<Op> {
    let Some((_, subject)) = MaintenanceTask::place(row) else { return Vec::new() };
    vec![MaintenanceTask::put(queue, due, subject, doc), delete(queue, row)]
}

/// Removes the row that was read, whatever its document says.
fn delete(queue: TaskQueue, row: &Row) -> Op {
    let (due, subject) = MaintenanceTask::place(row).unwrap_or((Time::from_millis(0), ""));
    Op::Delete { key: MaintenanceTask::row(queue, due, subject), when: When::Always }
}
