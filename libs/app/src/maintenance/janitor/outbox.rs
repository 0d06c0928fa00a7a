//! Repairs what a queue lost: a job whose row is long due is published again.

use std::{collections::HashMap, time::Duration};

use serde::Deserialize;
use tokio::time::Instant;
use trapline_model::Time;
use trapline_store::{Job, Lane, LaneStats, Op, Record, Row, When, records::Outbox};

use super::{UNKNOWN_WORK_DELAY, reader::JanitorQueue, shard::Shard};
use crate::{Result, jobs, maintenance::Maintenance, rows::write_all};

/// How long a job may be due before it counts as lost. The queue stores one of two jobs that are
/// published within two minutes, so what is only slow is not done twice.
const LOST_AFTER: Duration = Duration::from_secs(45);
/// Delay before a job of a lane with a backlog is checked again.
const RECHECK_DELAY: Duration = Duration::from_secs(20);
/// Longest such delay, for a job that has been due for long.
const MAX_RECHECK_DELAY: Duration = Duration::from_hours(1);

/// What the rows of a page make necessary.
#[derive(Default)]
struct Repairs {
    put: Vec<Op>,
    publish: Vec<Job>,
    delete: Vec<Op>,
    stats: HashMap<Lane, LaneStats>,
}

/// The part of a row's document that every release writes.
#[derive(Deserialize)]
struct DueOnly {
    due: Time,
}

impl Maintenance {
    /// Publishes the lost jobs of a shard again. Their rows become due later, so that the reader need not go
    /// back. Returns how many rows were read, and whether time ran out.
    pub(super) async fn repair_shard(
        &self,
        shard: &mut Shard,
        until: Instant,
    ) -> Result<(usize, bool)> {
        let mut seen = 0;
        let mut repairs = Repairs::default();
        // What is lost meanwhile is the next round's: there would be no end while a read takes time.
        let now = self.clock.now();
        let lost = now.before(LOST_AFTER);
        while shard.holds_lease(self).await? {
            let page = shard.reader(JanitorQueue::Outbox).next_page(self, now, lost).await?;
            let Some(page) = page else { return Ok((seen, false)) };
            for row in &page.rows {
                self.repair_job(row, &mut repairs).await?;
            }
            seen += page.rows.len();
            self.apply(&mut repairs).await?;
            shard.reader(JanitorQueue::Outbox).pass(&page);
            if Instant::now() >= until {
                return Ok((seen, true));
            }
        }
        Ok((seen, false))
    }

    /// A job that cannot be published, as one of a newer release's lane, keeps its row and is in no
    /// other job's way; only a queue that is away ends the pass.
    async fn repair_job(&self, row: &Row, repairs: &mut Repairs) -> Result<()> {
        let Some((due, name)) = Outbox::place(row) else { return Ok(()) };
        let now = self.clock.now();
        repairs.delete.push(Op::Delete { key: Outbox::row(due, name), when: When::Always });
        let (job, first_due) = match Outbox::of(row).and_then(|row| Ok((jobs::due(&row.job)?, row)))
        {
            Ok((first_due, row)) => (Some(row.job), first_due),
            Err(error) => {
                tracing::warn!(%error, job = name, "a job of another release stays in the outbox");
                (None, serde_json::from_str::<DueOnly>(&row.doc).map_or(due, |dated| dated.due))
            }
        };
        let age = now.since(first_due);
        if age > Outbox::GIVEN_UP {
            tracing::error!(job = name, "a job that nobody finished is given up");
            return Ok(());
        }
        let Some(job) = job else {
            let (at, doc) = (now.after(UNKNOWN_WORK_DELAY), row.doc.clone());
            repairs.put.push(Outbox::put_doc(Outbox::row(at, name), doc));
            return Ok(());
        };
        let stats = match repairs.stats.get(&job.lane) {
            Some(stats) => *stats,
            None => self.queue.stats(job.lane).await?,
        };
        repairs.stats.insert(job.lane, stats);
        // A lane with a backlog as old is late, not broken: to publish again would double its work.
        if stats.oldest_overdue.is_some_and(|oldest| oldest >= age) {
            let at =
                now.after(age.min(MAX_RECHECK_DELAY).saturating_sub(LOST_AFTER).max(RECHECK_DELAY));
            repairs.put.push(Outbox { due: at, job }.put()?);
            return Ok(());
        }
        tracing::warn!(job.id, "a job was lost and is published again");
        let job = jobs::with_row_due_at(&job, now)?;
        repairs.put.push(Outbox { due: now, job: job.clone() }.put()?);
        repairs.publish.push(job);
        Ok(())
    }

    /// Writes and publishes in an order in which a crash repeats work and loses nothing.
    async fn apply(&self, repairs: &mut Repairs) -> Result<()> {
        let store = &*self.store;
        write_all(store, std::mem::take(&mut repairs.put)).await?;
        let delete = std::mem::take(&mut repairs.delete);
        for job in repairs.publish.drain(..) {
            self.queue.publish(&job, None).await?;
        }
        Ok(write_all(store, delete).await?)
    }
}
