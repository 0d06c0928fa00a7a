//! Reads a shard of a queue in the order of time, and keeps its position across restarts and leases.
//!
//! Each bucket is read when it is due, and once more when it is [`GRACE`] old, for rows that came late:
//! clocks differ, and writes take time. After that it is never read again, so that tombstones of finished
//! rows cost nothing.

use std::time::Duration;

use trapline_model::Time;
use trapline_store::{
    Op, Row, When, load,
    records::{Outbox, Position, Progress, Slice, TaskQueue},
};

use crate::{Result, maintenance::Maintenance, metrics};

/// How late a row may become visible after the time that it names.
pub(crate) const GRACE: Duration = Duration::from_mins(5);
/// Rows read at a time.
const PAGE_ROWS: usize = 64;
/// How much time one read spans, so that what was removed there stays below the number that CQL
/// servers warn of.
const READ_SPAN: Duration = Duration::from_secs(5);
/// The same for a reader that is far behind: nobody removed anything while nobody read.
const FAR_READ_SPAN: Duration = Duration::from_mins(1);
const FAR_BEHIND: Duration = Duration::from_mins(10);
/// How far the first reader of an installation looks back at most.
const MAX_LOOK_BACK: Duration = Duration::from_hours(24);

/// A queue of the janitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JanitorQueue {
    /// Jobs that are not finished, of all lanes.
    Outbox,
    /// Maintenance tasks.
    Tasks(TaskQueue),
}

impl JanitorQueue {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Outbox => "jobs",
            Self::Tasks(queue) => queue.name(),
        }
    }

    fn slice(self, shard: i64, from: &Position, until: Time, length: Duration) -> Slice {
        match self {
            Self::Outbox => Outbox::slice(shard, from, until, length, PAGE_ROWS),
            Self::Tasks(queue) => queue.slice(shard, from, until, length, PAGE_ROWS),
        }
    }

    /// How far a reader goes before its position is stored. Workers remove finished jobs, so that the span
    /// since the stored position may be costly to read again; tasks are few.
    fn stored_every(self) -> Duration {
        match self {
            Self::Outbox => Duration::from_mins(1),
            Self::Tasks(_) => Duration::from_mins(15),
        }
    }
}

/// A reader of one shard of a queue.
pub(super) struct QueueReader {
    queue: JanitorQueue,
    shard: i64,
    positions: Option<Positions>,
    /// Whether a read of [`FAR_READ_SPAN`] failed here, because too many rows were removed.
    is_narrow: bool,
}

struct Positions {
    /// Every row up to here was read at least once.
    read_to: Position,
    /// Every row up to here was read for the last time.
    settled: Position,
    stored: Position,
}

/// Rows that are to be done, or scheduled anew, before the reader passes them.
pub(super) struct QueuePage {
    pub rows: Vec<Row>,
    start: Position,
    end: Position,
    /// Whether the rows were read before.
    is_second_read: bool,
    /// Whether no row can come late any more.
    is_settled: bool,
}

impl QueueReader {
    pub(super) fn new(queue: JanitorQueue, shard: i64) -> Self {
        Self { queue, shard, positions: None, is_narrow: false }
    }

    /// The next rows that are due at `until` or were before, for a pass that began at `now`; `None` at its end.
    pub(super) async fn next_page(
        &mut self,
        service: &Maintenance,
        now: Time,
        until: Time,
    ) -> Result<Option<QueuePage>> {
        let settled_until = now.before(GRACE).min(until);
        let positions = self.positions(service).await?;
        let (start, until, is_second_read) = if positions.read_to.is_before(until) {
            (positions.read_to.clone(), until, false)
        } else if positions.settled.is_before(settled_until) {
            (positions.settled.clone(), settled_until, true)
        } else {
            return Ok(None);
        };
        let (rows, end) = self.read(service, &start, until).await?;
        let is_settled = end.due <= settled_until;
        Ok(Some(QueuePage { rows, start, end, is_second_read, is_settled }))
    }

    async fn read(
        &mut self,
        service: &Maintenance,
        start: &Position,
        until: Time,
    ) -> Result<(Vec<Row>, Position)> {
        let far = service.clock.now().since(start.due) > FAR_BEHIND;
        self.is_narrow &= far;
        let quick = (far && !self.is_narrow) || service.forgets_removed_rows();
        let length = if quick { FAR_READ_SPAN } else { READ_SPAN };
        let slice = self.queue.slice(self.shard, start, until, length);
        let mut read = service.store.scan(slice.scan).await;
        let mut end = slice.end;
        if read.is_err() && length == FAR_READ_SPAN {
            self.is_narrow = true;
            let slice = self.queue.slice(self.shard, start, until, READ_SPAN);
            (read, end) = (service.store.scan(slice.scan).await, slice.end);
        }
        let rows = read?;
        if rows.len() == PAGE_ROWS {
            end = rows.last().and_then(Position::of).unwrap_or(end);
        }
        Ok((rows, end))
    }

    /// Moves past a page whose rows are done and stored.
    pub(super) fn pass(&mut self, page: &QueuePage) {
        let Some(positions) = &mut self.positions else { return };
        if page.is_second_read || (page.is_settled && positions.settled == page.start) {
            positions.settled = page.end.clone();
        }
        if !page.is_second_read {
            positions.read_to = page.end.clone();
        }
    }

    /// Forgets the position in memory; the next read begins at the stored one.
    pub(super) fn forget(&mut self) {
        self.positions = None;
    }

    /// Adds the write of the position to `ops`, if it is far from the stored one, or in any case `at_once`.
    pub(super) fn store(&mut self, at_once: bool, ops: &mut Vec<Op>, now: Time) -> Result<()> {
        let name = self.progress();
        let Some(positions) = &mut self.positions else { return Ok(()) };
        metrics::janitor_behind(self.queue.name(), self.shard, now.since(positions.read_to.due));
        let far = positions.settled.due.since(positions.stored.due) >= self.queue.stored_every();
        if far || (at_once && positions.settled != positions.stored) {
            positions.stored = positions.settled.clone();
            let progress = Progress { name, position: positions.settled.clone() };
            ops.push(Op::put(&progress, None, When::Always)?);
        }
        Ok(())
    }

    fn progress(&self) -> String {
        format!("{}:{}:minutes", self.queue.name(), self.shard)
    }

    async fn positions(&mut self, service: &Maintenance) -> Result<&mut Positions> {
        if self.positions.is_none() {
            let row = Progress::row(&self.progress());
            let stored = load::<Progress>(&*service.store, &row).await?;
            let stored = match stored {
                Some((progress, _)) => progress.position,
                None => Position::behind(first_position(service).await?),
            };
            self.positions =
                Some(Positions { read_to: stored.clone(), settled: stored.clone(), stored });
        }
        self.positions.as_mut().ok_or(crate::Error::Unavailable)
    }
}

/// Where the first reader begins: not before the installation was made, nor more than a day ago.
async fn first_position(service: &Maintenance) -> Result<Time> {
    let now = service.clock.now();
    let made = service.access.installed().await?.map_or(now, |run| Time::of_uuid(run.team.0));
    Ok(made.min(now).max(now.before(MAX_LOOK_BACK)).before(GRACE))
}
