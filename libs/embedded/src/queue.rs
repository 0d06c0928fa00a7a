//! The job queue. A lease is a job whose due time lies one lease ahead.

mod rows;

use std::{future, pin::pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, Row as SqlRow, params};
use trapline_model::Time;
use trapline_store::{Job, Lane, LaneStats, Lease, Op, PortError, Queue, Result};

use self::rows::{LeaseToken, lease, remove, token};
pub(crate) use self::rows::{insert, release};
use crate::{database::Database, store::WritePlan, values::sql};

/// How long a worker holds a job.
const LEASE_TTL: Duration = Duration::from_secs(30);
/// How long a job may be due before it counts as overdue, in milliseconds.
const OVERDUE_MS: i64 = 60_000;

/// Jobs in SQLite.
pub(crate) struct SqliteQueue(pub(crate) Arc<Database>);

#[async_trait]
impl Queue for SqliteQueue {
    async fn publish(&self, job: &Job, due: Option<Time>) -> Result<()> {
        let job = job.clone();
        self.0.write(0, move |transaction| insert(transaction, &job, due)).await
    }

    async fn publish_with(&self, rows: Vec<Op>, jobs: Vec<(Job, Time)>) -> Result<()> {
        let rows = WritePlan::of(&self.0.tables, rows)?;
        self.0
            .write(rows.bytes(), move |transaction| {
                transaction.all_or_nothing(|| {
                    rows.apply_all(transaction)?;
                    jobs.iter().try_for_each(|(job, due)| insert(transaction, job, Some(*due)))
                })
            })
            .await
    }

    async fn take(&self, lane: Lane, max: usize, wait: Duration) -> Result<Vec<Lease>> {
        if max == 0 {
            return Ok(Vec::new());
        }
        let mut over = pin!(tokio::time::sleep(wait));
        let wakeup = self.0.lanes.of(lane);
        loop {
            // Listening before looking leaves no moment in which a job could come unheard.
            let mut woken = pin!(wakeup.notified());
            woken.as_mut().enable();
            let due = self.next_due(lane)?;
            if due.is_some_and(|due| due <= self.0.clock.now()) {
                let leases =
                    self.0.write_relaxed(move |transaction| lease(transaction, lane, max)).await?;
                if !leases.is_empty() {
                    // Whoever waits beside this worker may find more.
                    wakeup.notify_one();
                    return Ok(leases);
                }
                continue;
            }
            tokio::select! {
                () = &mut over => return Ok(Vec::new()),
                () = woken => {}
                () = self.reached(due) => {}
            }
        }
    }

    async fn finish(&self, lease: Lease) -> Result<()> {
        let token = token(&lease)?;
        self.0.write_relaxed(move |transaction| remove(transaction, token).map(drop)).await
    }

    async fn retry(&self, lease: Lease, next: &Job, due: Time) -> Result<()> {
        let (token, next) = (token(&lease)?, next.clone());
        let same = (lease.job.lane, &lease.job.id) == (next.lane, &next.id);
        self.0
            .write_relaxed(move |transaction| {
                transaction.atomically(|| {
                    // Under the same id, a job that somebody else holds by now is theirs to retry.
                    if remove(transaction, token)? || !same {
                        insert(transaction, &next, Some(due))?;
                    }
                    Ok(())
                })
            })
            .await
    }

    async fn extend(&self, lease: &Lease) -> Result<()> {
        let LeaseToken { seq, takes } = token(lease)?;
        let sql_text = "UPDATE job SET due = ? WHERE seq = ? AND takes = ?";
        self.0
            .write_relaxed(move |transaction| {
                let due = transaction.now().after(LEASE_TTL).millis();
                let mut statement = transaction.statement(sql_text)?;
                let held = statement.execute(params![due, seq, takes]).map_err(sql)?;
                (held == 1).then_some(()).ok_or(PortError::Conflict)
            })
            .await
    }

    async fn stats(&self, lane: Lane) -> Result<LaneStats> {
        let now = self.0.clock.now();
        let sql_text = "SELECT count(*) FILTER (WHERE due <= ?2), \
             count(*) FILTER (WHERE due > ?2 AND held = 1), \
             count(*) FILTER (WHERE due > ?2 AND held = 0), \
             count(*) FILTER (WHERE due < ?3), \
             min(due) FILTER (WHERE due < ?3) FROM job WHERE lane = ?1";
        let read = move |row: &SqlRow<'_>| {
            let oldest: Option<i64> = row.get(4)?;
            Ok(LaneStats {
                ready: counted(row, 0)?,
                leased: counted(row, 1)?,
                delayed: counted(row, 2)?,
                overdue: counted(row, 3)?,
                oldest_overdue: oldest.map(|due| now.since(Time::from_millis(due))),
            })
        };
        let parameters = (lane.name(), now.millis(), now.millis().saturating_sub(OVERDUE_MS));
        self.0
            .readers
            .long(move |connection| {
                let mut statement = connection.prepare_cached(sql_text).map_err(sql)?;
                statement.query_row(parameters, read).map_err(sql)
            })
            .await
    }
}

impl SqliteQueue {
    fn next_due(&self, lane: Lane) -> Result<Option<Time>> {
        let sql_text = "SELECT due FROM job WHERE lane = ? ORDER BY due LIMIT 1";
        self.0.readers.short(|connection| {
            let mut statement = connection.prepare_cached(sql_text).map_err(sql)?;
            let due = statement.query_row([lane.name()], |row| row.get(0)).optional();
            Ok(due.map_err(sql)?.map(Time::from_millis))
        })
    }

    async fn reached(&self, due: Option<Time>) {
        match due {
            Some(due) => self.0.clock.sleep_until(due).await,
            None => future::pending().await,
        }
    }
}

/// A count, which SQLite gives as a signed number.
fn counted(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(|count: i64| count.unsigned_abs())
}
