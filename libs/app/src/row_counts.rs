//! Whether a team has as many rows of a kind as it may, without a read of all of them each time.

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use trapline_model::{TeamId, Time};
use trapline_store::{Clock, Row, Scan, Store, Value};

use crate::Result;

/// Teams whose rows are remembered.
const TEAMS: u64 = 10_000;
/// Rows that are younger are counted anew: other processes, whose clocks are not quite this one's, may still write
/// rows before them.
const SETTLED: Duration = Duration::from_mins(1);

/// Rows that were counted.
#[derive(Debug, Clone)]
struct CountedRows {
    /// The sort key of the last one.
    until: Vec<Value>,
    count: usize,
}

/// Counts the rows of a table whose partition is a team and whose sort key is a time-ordered id, oldest first.
///
/// Rows that were removed since they were counted make a count too high, never too low; so it is taken anew before
/// anything is refused for it.
pub(crate) struct RowCounts {
    store: Arc<dyn Store>,
    clock: Clock,
    known: Cache<TeamId, CountedRows>,
}

impl RowCounts {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        Self { store, clock, known: Cache::new(TEAMS) }
    }

    /// Whether the team has all rows that it may have, which are as many as the scan's limit.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn is_full(&self, team: TeamId, scan: Scan) -> Result<bool> {
        if let Some(known) = self.known.get(&team)
            && self.count(team, &scan, Some(known)).await? < scan.limit
        {
            return Ok(false);
        }
        Ok(self.count(team, &scan, None).await? >= scan.limit)
    }

    async fn count(&self, team: TeamId, scan: &Scan, known: Option<CountedRows>) -> Result<usize> {
        let (after, before) = known.map_or((None, 0), |known| (Some(known.until), known.count));
        let scan = Scan { after, keys_only: true, ..scan.clone() };
        let rows = self.store.scan(scan).await?;
        let settled = self.clock.now().before(SETTLED);
        let old = rows.iter().take_while(|row| made_at(row) < settled).count();
        if let Some(last) = old.checked_sub(1) {
            let until = rows[last].sort.clone();
            self.known.insert(team, CountedRows { until, count: before + old });
        }
        Ok(before + rows.len())
    }
}

fn made_at(row: &Row) -> Time {
    match row.sort.as_slice() {
        [Value::Uuid(id)] => Time::of_uuid(*id),
        _ => Time::from_millis(i64::MAX),
    }
}
