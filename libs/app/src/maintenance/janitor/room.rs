//! Frees space on a full disk: segments are checked before they are due.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::Instant;
use trapline_store::{
    Op, Record as _, Row, When,
    records::{MaintenanceTask, Position, TaskKind, TaskQueue},
};

use super::{
    segments::{Compaction, SegmentState},
    shard::Shard,
};
use crate::{Result, maintenance::Maintenance};

/// Tasks read at a time.
const PAGE_ROWS: usize = 50;
/// How long a round checks the segments of one shard; the next round continues.
const SHARD_TIME: Duration = Duration::from_millis(200);
/// Longer than any segment waits for its next check.
const MAX_AHEAD: Duration = Duration::from_hours(31 * 24);
const MINUTE: Duration = Duration::from_mins(1);

impl Maintenance {
    /// Checks all segments before they are due, shard by shard; the next round continues where time ran out.
    /// Only where a segment without rows is garbage, however young it is.
    pub(super) async fn make_room(&self, shards: &mut [Shard]) -> Result<()> {
        if !self.commits_bytes_with_rows() {
            return Ok(());
        }
        // Minutes without a task are by far the most, and none of them is read.
        let partitions = self.store.partitions(MaintenanceTask::TABLE).await?;
        for shard in shards {
            let minutes = TaskQueue::Segments.minutes(shard.number, &partitions);
            self.check_early(shard, minutes).await?;
        }
        Ok(())
    }

    async fn check_early(&self, shard: &mut Shard, minutes: BTreeSet<i64>) -> Result<()> {
        let (began, now) = (Instant::now(), self.clock.now());
        let last = now.after(MAX_AHEAD);
        let place = shard.early_position.take().filter(|place| !place.is_before(now));
        let mut place = place.unwrap_or_else(|| Position::behind(now));
        for minute in minutes {
            place = place.not_before_minute(minute);
            let end = Position::before_minute(minute.saturating_add(1)).due.min(last);
            while place.is_before(end) {
                let queue = TaskQueue::Segments;
                let slice = queue.slice(shard.number, &place, end, MINUTE, PAGE_ROWS);
                let rows = self.store.scan(slice.scan).await?;
                for row in &rows {
                    if began.elapsed() > SHARD_TIME || !shard.holds_lease(self).await? {
                        shard.early_position = Some(place);
                        return Ok(());
                    }
                    self.run_early(row).await?;
                    place = Position::of(row).unwrap_or(place);
                }
                if rows.len() < PAGE_ROWS {
                    place = slice.end;
                }
            }
        }
        Ok(())
    }

    /// Does a task of a segment before it is due. A failure is left to the time when it is due.
    async fn run_early(&self, row: &Row) -> Result<()> {
        let Ok(task) = MaintenanceTask::of(row) else { return Ok(()) };
        let over = match &task.task {
            TaskKind::ExpireInbox { .. } | TaskKind::ExpireMock { .. } => return Ok(()),
            TaskKind::CheckSegment { aliases, .. } => {
                let found =
                    self.check_and_compact(&task.subject, aliases, Compaction::OfHalfDead).await;
                found.map(|found| found == SegmentState::Removed)
            }
            TaskKind::ReviewSegment {} => {
                self.review_segment(&task.subject, Compaction::OfHalfDead).await.map(|()| true)
            }
            // A whole erasure may take more room than it gives, so it stays planned.
            TaskKind::EraseSegment {} => {
                self.review_segment(&task.subject, Compaction::OfHalfDead).await.map(|()| false)
            }
            TaskKind::RemoveSegment { aliases } => {
                self.remove_segment(&task.subject, aliases).await.map(|()| true)
            }
        };
        match over {
            Ok(true) => {
                let delete = Op::Delete { key: task.key(), when: When::Always };
                Ok(self.store.write(vec![delete]).await?)
            }
            Ok(false) => Ok(()),
            Err(error) => {
                tracing::debug!(%error, segment = task.subject, "a segment keeps its room");
                Ok(())
            }
        }
    }
}
