//! A cache of a team's rows for the receiving path: for 5 s, or until a change is announced.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use moka::sync::Cache;
use trapline_model::TeamId;
use trapline_store::{LiveEvent, Record, Result, Scan, Store, load_all};

use crate::announce::LocalCache;

/// How long a row is used after a change that was not announced.
const CACHE_TTL: Duration = Duration::from_secs(5);
/// Teams whose rows are in the cache.
const CACHE_CAPACITY: u64 = 10_000;

/// Rows of one kind by team, of which a team has few.
pub(crate) struct TeamCache<R> {
    store: Arc<dyn Store>,
    of_team: fn(TeamId) -> Scan,
    known: Cache<TeamId, Arc<[R]>>,
    changes: AtomicU64,
}

impl<R: Record + 'static> TeamCache<R> {
    /// `of_team` reads a team's rows.
    pub(crate) fn new(store: Arc<dyn Store>, of_team: fn(TeamId) -> Scan) -> Self {
        let known = Cache::builder().max_capacity(CACHE_CAPACITY).time_to_live(CACHE_TTL).build();
        Self { store, of_team, known, changes: AtomicU64::new(0) }
    }

    /// The team's rows, in the table's order.
    pub(crate) async fn of(&self, team: TeamId) -> Result<Arc<[R]>> {
        if let Some(rows) = self.known.get(&team) {
            return Ok(rows);
        }
        let before = self.changes.load(Ordering::SeqCst);
        let rows: Arc<[R]> = load_all::<R>(&*self.store, (self.of_team)(team)).await?.into();
        // What was read during a change may be what was there before it.
        if self.changes.load(Ordering::SeqCst) == before {
            self.known.insert(team, rows.clone());
        }
        Ok(rows)
    }

    /// Forgets a team's rows, also those that are being read right now.
    pub(crate) fn forget(&self, team: TeamId) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.known.invalidate(&team);
    }
}

impl<R: Record + Send + Sync + 'static> LocalCache for TeamCache<R> {
    fn invalidate_changed(&self, event: &LiveEvent) {
        if let LiveEvent::HooksChanged { team } = event {
            self.forget(*team);
        }
    }

    fn invalidate_all(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.known.invalidate_all();
    }
}
