//! Makes room on a full disk: segments are looked at before their time.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::Instant;
use trapline_store::{
    Op, Record as _, Row, When,
    records::{MaintenanceTask, Position, Task, TaskQueue},
};

use super::{segments::Found, shard::Shard};
use crate::{Result, maintenance::Maintenance};

/// Tasks read at a time.
const PAGE_ROWS: usize = 50;
/// How long one shard is looked at in a round; the next round goes on.
const SHARD_TIME: Duration = Duration::from_millis(200);
/// Longer than any segment waits for its next check.
const MAX_AHEAD: Duration = Duration::from_hours(31 * 24);
const MINUTE: Duration = Duration::from_mins(1);

impl Maintenance {
    /// Looks at all segments before their time, shard by shard, and goes on in the next round where
    /// this one's time is over. Only where a segment without rows is garbage, however young it is.
    pub(super) async fn make_room(&self, shards: &mut [Shard]) -> Result<()> {
        if !self.commits_bytes_with_rows() {
            return Ok(());
        }
        // Minutes without a task are by far the most, and none of them is read.
        let partitions = self.store.partitions(MaintenanceTask::TABLE).await?;
        for shard in shards {
            let minutes = TaskQueue::Segments.minutes(shard.number, &partitions);
            self.look_ahead(shard, minutes).await?;
        }
        Ok(())
    }

    async fn look_ahead(&self, shard: &mut Shard, minutes: BTreeSet<i64>) -> Result<()> {
        let (began, now) = (Instant::now(), self.clock.now());
        let last = now.after(MAX_AHEAD);
        let place = shard.looked_at.take().filter(|place| !place.is_before(now));
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
                        shard.looked_at = Some(place);
                        return Ok(());
                    }
                    self.look_early(row).await?;
                    place = Position::of(row).unwrap_or(place);
                }
                if rows.len() < PAGE_ROWS {
                    place = slice.end;
                }
            }
        }
        Ok(())
    }

    /// What fails here is done, or put off, when it is due.
    async fn look_early(&self, row: &Row) -> Result<()> {
        let Ok(task) = MaintenanceTask::of(row) else { return Ok(()) };
        let over = match &task.task {
            Task::ExpireInbox { .. } => return Ok(()),
            Task::CheckSegment { aliases, .. } => {
                let found = self.visit_segment(&task.subject, aliases).await;
                found.map(|found| found == Found::Over)
            }
            Task::ReviewSegment {} => self.review_segment(&task.subject).await.map(|()| true),
            Task::RemoveSegment { aliases } => {
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
