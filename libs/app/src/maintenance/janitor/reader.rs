//! Reads a shard of a queue in the order of time, and keeps its place across restarts and leases.
//!
//! Each bucket is read when it is due, and once more when it is [`GRACE`] old, for rows that came late:
//! clocks differ, and writes take time. Behind that nothing is read again, so what was done leaves
//! nothing to wade through.

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
pub(super) enum Queue {
    /// Jobs that are not finished.
    Outbox,
    /// Tasks of its own.
    Tasks(TaskQueue),
}

impl Queue {
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

    /// How far a reader goes before its place is stored. Jobs are removed by others, so what lies
    /// behind the stored place may be costly to read again; tasks are few.
    fn stored_every(self) -> Duration {
        match self {
            Self::Outbox => Duration::from_mins(1),
            Self::Tasks(_) => Duration::from_mins(15),
        }
    }
}

/// A reader of one shard of a queue.
pub(super) struct Reader {
    queue: Queue,
    shard: i64,
    places: Option<Places>,
    /// Long strides failed here: too much was removed.
    narrow: bool,
}

struct Places {
    /// Every row up to here was read once.
    front: Position,
    /// Up to here nothing comes any more.
    passed: Position,
    stored: Position,
}

/// Rows that are to be settled: done, or planned anew.
pub(super) struct Page {
    pub rows: Vec<Row>,
    start: Position,
    end: Position,
    again: bool,
    over: bool,
}

impl Reader {
    pub(super) fn new(queue: Queue, shard: i64) -> Self {
        Self { queue, shard, places: None, narrow: false }
    }

    /// The next rows that are due at `until` or were before.
    pub(super) async fn next_page(
        &mut self,
        service: &Maintenance,
        until: Time,
    ) -> Result<Option<Page>> {
        let over = service.clock.now().before(GRACE).min(until);
        let places = self.places(service).await?;
        let (start, until, again) = if places.front.is_before(until) {
            (places.front.clone(), until, false)
        } else if places.passed.is_before(over) {
            (places.passed.clone(), over, true)
        } else {
            return Ok(None);
        };
        let (rows, end) = self.read(service, &start, until).await?;
        let over = end.due <= over;
        Ok(Some(Page { rows, start, end, again, over }))
    }

    async fn read(
        &mut self,
        service: &Maintenance,
        start: &Position,
        until: Time,
    ) -> Result<(Vec<Row>, Position)> {
        let far = service.clock.now().since(start.due) > FAR_BEHIND;
        self.narrow &= far;
        let quick = (far && !self.narrow) || service.forgets_removed_rows();
        let length = if quick { FAR_READ_SPAN } else { READ_SPAN };
        let slice = self.queue.slice(self.shard, start, until, length);
        let mut read = service.store.scan(slice.scan).await;
        let mut end = slice.end;
        if read.is_err() && length == FAR_READ_SPAN {
            self.narrow = true;
            let slice = self.queue.slice(self.shard, start, until, READ_SPAN);
            (read, end) = (service.store.scan(slice.scan).await, slice.end);
        }
        let rows = read?;
        if rows.len() == PAGE_ROWS {
            end = rows.last().and_then(Position::of).unwrap_or(end);
        }
        Ok((rows, end))
    }

    /// A page's rows are settled, and that is stored.
    pub(super) fn pass(&mut self, page: &Page) {
        let Some(places) = &mut self.places else { return };
        if page.again || (page.over && places.passed == page.start) {
            places.passed = page.end.clone();
        }
        if !page.again {
            places.front = page.end.clone();
        }
    }

    /// Goes back to where the stored place is.
    pub(super) fn forget(&mut self) {
        self.places = None;
    }

    /// Stores the place, if it is time.
    pub(super) fn store(&mut self, at_once: bool, ops: &mut Vec<Op>, now: Time) -> Result<()> {
        let name = self.progress();
        let Some(places) = &mut self.places else { return Ok(()) };
        metrics::janitor_behind(self.queue.name(), self.shard, now.since(places.front.due));
        let far = places.passed.due.since(places.stored.due) >= self.queue.stored_every();
        if far || (at_once && places.passed != places.stored) {
            places.stored = places.passed.clone();
            let progress = Progress { name, position: places.passed.clone() };
            ops.push(Op::put(&progress, None, When::Always)?);
        }
        Ok(())
    }

    fn progress(&self) -> String {
        format!("{}:{}:minutes", self.queue.name(), self.shard)
    }

    async fn places(&mut self, service: &Maintenance) -> Result<&mut Places> {
        if self.places.is_none() {
            let row = Progress::row(&self.progress());
            let stored = load::<Progress>(&*service.store, &row).await?;
            let stored = match stored {
                Some((progress, _)) => progress.position,
                None => Position::behind(first(service).await?),
            };
            self.places = Some(Places { front: stored.clone(), passed: stored.clone(), stored });
        }
        self.places.as_mut().ok_or(crate::Error::Unavailable)
    }
}

/// Where the first reader begins: not before the installation was made.
async fn first(service: &Maintenance) -> Result<Time> {
    let now = service.clock.now();
    let made = service.access.installed().await?.map_or(now, |run| Time::of_uuid(run.team.0));
    Ok(made.min(now).max(now.before(MAX_LOOK_BACK)).before(GRACE))
}
