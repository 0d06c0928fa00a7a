//! Makes room on a full disk: segments are looked at before their time.

use std::time::Duration;

use tokio::time::Instant;
use trapline_store::{
    Op, Record as _, Row, Scan, When,
    records::{Chore, Task},
    segment::Class,
};

use super::{segments::first_visit, shard::Shard};
use crate::{App, Result};

/// Chores read at a time.
const AT_ONCE: usize = 50;
/// How long one shard is looked at in a round; the next round goes on.
const AT_MOST: Duration = Duration::from_millis(200);

impl App {
    /// Removes what is dead of a shard's segments. Only where rows come with their bytes: elsewhere a
    /// young segment may be without rows because these are still to come.
    pub(super) async fn make_room(&self, shard: &mut Shard) -> Result<()> {
        if !self.ports.queue.durable() {
            return Ok(());
        }
        let (began, now) = (Instant::now(), Chore::hour(self.now()));
        let last = Chore::hour(self.now().after(first_visit(Class::D7)));
        let (first, mut after) = shard.looked_at.take().unwrap_or((now, None));
        for hour in first.max(now)..=last {
            loop {
                let due = Chore::due_in(hour, shard.number, self.now(), AT_ONCE);
                let due = Scan { after: after.clone(), until: None, ..due };
                let rows = self.ports.store.scan(due).await?;
                for row in &rows {
                    if began.elapsed() > AT_MOST || !shard.may_work(self).await? {
                        shard.looked_at = Some((hour, after));
                        return Ok(());
                    }
                    self.look_early(row).await?;
                    after = Some(row.sort.clone());
                }
                if rows.len() < AT_ONCE {
                    break;
                }
            }
            after = None;
        }
        Ok(())
    }

    /// What fails here is done, or put off, when it is due.
    async fn look_early(&self, row: &Row) -> Result<()> {
        let Ok(chore) = Chore::of(row) else { return Ok(()) };
        let over = match &chore.task {
            Task::ExpireInbox { .. } => return Ok(()),
            Task::CheckSegment { aliases, .. } => self.visit_segment(&chore.subject, aliases).await,
            Task::RemoveSegment { aliases } => {
                self.remove_segment(&chore.subject, aliases).await.map(|()| true)
            }
        };
        match over {
            Ok(true) => {
                let delete = Op::Delete { key: chore.key(), when: When::Always };
                Ok(self.ports.store.write(vec![delete]).await?)
            }
            Ok(false) => Ok(()),
            Err(error) => {
                tracing::debug!(%error, segment = chore.subject, "a segment keeps its room");
                Ok(())
            }
        }
    }
}
