//! Chores: each is due at a time, done, and removed.

use std::time::Duration;

use trapline_store::{
    Op, Record, Scan, Value, When, load,
    records::{Chore, Progress, Task},
};

use super::shard::Shard;
use crate::{App, Result};

/// Chores of one partition taken at a time.
const AT_ONCE: usize = 200;
/// How far back the first walk of an installation looks.
const LOOK_BACK_HOURS: i64 = 24;
/// How late a row may become visible after the time that it names: clocks differ, and writes take time.
pub(super) const LATE: Duration = Duration::from_mins(2);

impl App {
    /// Every chore of a shard that is due now.
    pub(super) async fn tidy_shard(&self, shard: &mut Shard) -> Result<usize> {
        let walk = format!("chores:{}", shard.number);
        let (began, first) = (self.now(), self.walk_from(&walk).await?);
        let mut done = 0;
        for hour in first..=Chore::hour(began) {
            done += self.tidy_hour(hour, shard).await?;
        }
        shard.clean_until = Some(began.before(LATE));
        self.walked_to(&walk, first, Chore::hour(began.before(LATE))).await?;
        Ok(done)
    }

    async fn tidy_hour(&self, hour: i64, shard: &mut Shard) -> Result<usize> {
        let after = shard.clean_until.map(|until| vec![Value::Int(until.millis())]);
        let mut done = 0;
        loop {
            let due = Chore::due_in(hour, shard.number, self.now(), AT_ONCE);
            let rows = self.ports.store.scan(Scan { after: after.clone(), ..due }).await?;
            for row in &rows {
                if !shard.may_work(self).await? {
                    return Ok(done);
                }
                let chore = Chore::of(row)?;
                self.perform(&chore).await?;
                let delete = Op::Delete { key: chore.key(), when: When::Always };
                self.ports.store.write(vec![delete]).await?;
                done += 1;
            }
            if rows.is_empty() {
                return Ok(done);
            }
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

    pub(super) async fn plan(&self, chore: Chore) -> Result<()> {
        let (key, doc) = (chore.key(), chore.doc()?);
        let put = Op::Put { key, doc, ttl: None, when: When::Always };
        Ok(self.ports.store.write(vec![put]).await?)
    }

    /// The first hour that a walk is not through with.
    pub(super) async fn walk_from(&self, walk: &str) -> Result<i64> {
        let progress = load::<Progress>(&*self.ports.store, &Progress::row(walk)).await?;
        let start = Chore::hour(self.now()) - LOOK_BACK_HOURS;
        Ok(progress.map_or(start, |(progress, _)| progress.hour))
    }

    /// Notes that a walk is through with every hour before `hour`.
    pub(super) async fn walked_to(&self, walk: &str, from: i64, hour: i64) -> Result<()> {
        if hour <= from {
            return Ok(());
        }
        let progress = Progress { name: walk.to_owned(), hour };
        let (key, doc) = (progress.key(), progress.doc()?);
        let put = Op::Put { key, doc, ttl: None, when: When::Always };
        Ok(self.ports.store.write(vec![put]).await?)
    }
}
