//! A team's rows as the receiving path knows them: for 5 s, or until it hears of a change.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use moka::sync::Cache;
use trapline_model::TeamId;
use trapline_store::{Record, Result, Scan, Store};

/// How long a change that was not heard of stays unknown.
const KNOWN_FOR: Duration = Duration::from_secs(5);
const KNOWN_AT_MOST: u64 = 10_000;

/// Rows of one kind, of which a team has few.
pub(crate) struct TeamRows<R> {
    store: Arc<dyn Store>,
    of_team: fn(TeamId) -> Scan,
    known: Cache<TeamId, Arc<[R]>>,
    changes: AtomicU64,
}

impl<R: Record + 'static> TeamRows<R> {
    /// `of_team` reads a team's rows.
    pub(crate) fn new(store: Arc<dyn Store>, of_team: fn(TeamId) -> Scan) -> Self {
        let known = Cache::builder().max_capacity(KNOWN_AT_MOST).time_to_live(KNOWN_FOR).build();
        Self { store, of_team, known, changes: AtomicU64::new(0) }
    }

    /// The team's rows, in the table's order.
    pub(crate) async fn of(&self, team: TeamId) -> Result<Arc<[R]>> {
        if let Some(rows) = self.known.get(&team) {
            return Ok(rows);
        }
        let before = self.changes.load(Ordering::SeqCst);
        let rows = self.store.scan((self.of_team)(team)).await?;
        let rows: Arc<[R]> = rows.iter().map(R::of).collect::<Result<_>>()?;
        // What was read during a change may be what was there before it.
        if self.changes.load(Ordering::SeqCst) == before {
            self.known.insert(team, rows.clone());
        }
        Ok(rows)
    }

    pub(crate) fn forget(&self, team: TeamId) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.known.invalidate(&team);
    }

    pub(crate) fn forget_all(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.known.invalidate_all();
    }
}
