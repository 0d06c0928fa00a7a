//! Chores: each is due at a time, done, and removed.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt as _;
use trapline_model::Time;
use trapline_store::{
    Op, PortError, Record, Row, Scan, Value, When, load,
    records::{Chore, Progress, Task},
};

use super::shard::Shard;
use crate::{App, Error, Result, metrics};

/// Chores of one partition taken at a time.
const AT_ONCE: usize = 200;
/// When a chore is tried again by how often it failed; the first is for outages.
const RETRY_AFTER: [Duration; 7] = [
    Duration::from_mins(1),
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(15),
    Duration::from_hours(1),
    Duration::from_hours(3),
    Duration::from_hours(6),
];
/// When a chore is tried again that failed more often.
const PARKED: Duration = Duration::from_hours(24);
/// When a chore is looked at again that this release does not know.
const FOR_ANOTHER: Duration = Duration::from_hours(1);
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
        let (mut done, mut blobs_away) = (0, false);
        loop {
            let due = Chore::due_in(hour, shard.number, self.now(), AT_ONCE);
            let rows = self.ports.store.scan(Scan { after: after.clone(), ..due }).await?;
            for row in &rows {
                if !shard.may_work(self).await? {
                    return Ok(done);
                }
                done += usize::from(self.settle(row, &mut blobs_away).await?);
            }
            if rows.is_empty() {
                return Ok(done);
            }
        }
    }

    /// Does a chore, or puts it off so that it is in no other's way; whether it was done. Fails only
    /// where the outcome cannot be stored. Once `blobs_away`, nothing waits for them again.
    async fn settle(&self, row: &Row, blobs_away: &mut bool) -> Result<bool> {
        let chore = match Chore::of(row) {
            Ok(chore) => chore,
            Err(error) => {
                // It may be a newer release's, whose document is kept as it is.
                tracing::warn!(%error, chore = ?row.sort, "a chore of another release waits");
                metrics::chore_done("unknown");
                self.move_chore(row, self.now().after(FOR_ANOTHER), row.doc.clone()).await?;
                return Ok(false);
            }
        };
        let reads_blobs = !matches!(chore.task, Task::ExpireInbox { .. });
        let outcome = if reads_blobs && *blobs_away {
            Err(Error::Unavailable)
        } else {
            let performed = AssertUnwindSafe(self.perform(&chore)).catch_unwind().await;
            performed.unwrap_or_else(|_| Err(PortError::Misuse("a chore panicked").into()))
        };
        let Err(error) = outcome else {
            metrics::chore_done("ok");
            let delete = Op::Delete { key: chore.key(), when: When::Always };
            self.ports.store.write(vec![delete]).await?;
            return Ok(true);
        };
        *blobs_away |= reads_blobs && error.is_outage();
        self.chore_failed(row, chore, &error).await?;
        Ok(false)
    }

    /// An outage says nothing about the chore, so it does not count.
    async fn chore_failed(&self, row: &Row, chore: Chore, error: &Error) -> Result<()> {
        let attempt = if error.is_outage() { chore.attempt } else { chore.attempt + 1 };
        let (outcome, pause) = match RETRY_AFTER.get(attempt as usize) {
            Some(pause) => ("failed", *pause),
            None => ("parked", PARKED),
        };
        metrics::chore_done(outcome);
        if outcome == "parked" {
            tracing::error!(%error, chore = chore.subject, "a chore fails again and again");
        } else {
            tracing::warn!(%error, chore = chore.subject, "a chore is tried again later");
        }
        let due = self.now().after(pause);
        let doc = Chore { due, attempt, ..chore }.doc()?;
        self.move_chore(row, due, doc).await
    }

    async fn move_chore(&self, row: &Row, due: Time, doc: String) -> Result<()> {
        let Some((was_due, subject)) = Chore::place(row) else { return Ok(()) };
        let (old, new) = (Chore::row(was_due, subject), Chore::row(due, subject));
        let put = Op::Put { key: new, doc, ttl: None, when: When::Always };
        let delete = Op::Delete { key: old, when: When::Always };
        Ok(self.ports.store.write(vec![put, delete]).await?)
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
