//! The janitor: does what is due, hour by hour, and scans nothing that is not.

mod expiry;
mod segments;

use std::{sync::Arc, time::Duration};

use trapline_store::{
    Op, Record, When, load,
    records::{CHORE_SHARDS, Chore, ChoreProgress, Task},
};

use crate::{App, Result};

const PAUSE: Duration = Duration::from_secs(5);
/// Chores of one partition taken at a time.
const AT_ONCE: usize = 200;
/// The longest life of a retention class; nothing is due for longer without being done.
const LOOK_BACK_HOURS: i64 = 24;

pub(crate) use segments::first_visit;

impl App {
    /// Does what is due until shutdown.
    pub async fn run_janitor(self: Arc<Self>) {
        let shutdown = self.shutdown.clone();
        let rounds = async {
            loop {
                if let Err(error) = self.tidy().await {
                    tracing::warn!(%error, "the janitor goes on in its next round");
                }
                self.clock.sleep(PAUSE).await;
            }
        };
        shutdown.run_until_cancelled(rounds).await;
    }

    /// One round: every chore that is due now. Returns how many were done.
    pub async fn tidy(&self) -> Result<usize> {
        let now = self.now();
        let this_hour = Chore::hour(now);
        let progress = load::<ChoreProgress>(&*self.ports.store, &ChoreProgress::row()).await?;
        let first = progress.map_or(this_hour - LOOK_BACK_HOURS, |(progress, _)| progress.hour);
        let mut done = 0;
        for hour in first..=this_hour {
            for shard in 0..CHORE_SHARDS {
                done += self.tidy_shard(hour, shard).await?;
            }
        }
        if first < this_hour {
            self.remember(ChoreProgress { hour: this_hour }).await?;
        }
        Ok(done)
    }

    async fn tidy_shard(&self, hour: i64, shard: i64) -> Result<usize> {
        let mut done = 0;
        loop {
            let due = Chore::due_in(hour, shard, self.now(), AT_ONCE);
            let rows = self.ports.store.scan(due).await?;
            if rows.is_empty() {
                return Ok(done);
            }
            for row in &rows {
                let chore = Chore::of(row)?;
                self.perform(&chore).await?;
                let delete = Op::Delete { key: chore.key(), when: When::Always };
                self.ports.store.write(vec![delete]).await?;
            }
            done += rows.len();
        }
    }

    async fn perform(&self, chore: &Chore) -> Result<()> {
        match &chore.task {
            Task::ExpireInbox { team, inbox, username } => {
                self.expire(*team, *inbox, username).await
            }
            Task::CheckSegment { visits, aliases } => {
                self.check_segment(&chore.subject, *visits, aliases).await
            }
            Task::RemoveSegment { aliases } => self.remove_segment(&chore.subject, aliases).await,
        }
    }

    async fn remember(&self, progress: ChoreProgress) -> Result<()> {
        let (key, doc) = (progress.key(), progress.doc()?);
        let put = Op::Put { key, doc, ttl: None, when: When::Always };
        Ok(self.ports.store.write(vec![put]).await?)
    }

    async fn plan(&self, chore: Chore) -> Result<()> {
        let (key, doc) = (chore.key(), chore.doc()?);
        let put = Op::Put { key, doc, ttl: None, when: When::Always };
        Ok(self.ports.store.write(vec![put]).await?)
    }
}
