//! A team's webhooks as the receiving path knows them: for 5 s, or until it hears of a change.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use moka::sync::Cache;
use trapline_model::TeamId;
use trapline_store::{Record as _, Result, Store, records::Webhook};

use super::MAX_WEBHOOKS;

/// How long a change that was not heard of stays unknown.
const KNOWN_FOR: Duration = Duration::from_secs(5);
const KNOWN_AT_MOST: u64 = 10_000;

pub(crate) struct Hooks {
    store: Arc<dyn Store>,
    known: Cache<TeamId, Arc<[Webhook]>>,
    changes: AtomicU64,
}

impl Hooks {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let known = Cache::builder().max_capacity(KNOWN_AT_MOST).time_to_live(KNOWN_FOR).build();
        Self { store, known, changes: AtomicU64::new(0) }
    }

    /// The team's webhooks, oldest first.
    pub(crate) async fn of(&self, team: TeamId) -> Result<Arc<[Webhook]>> {
        if let Some(hooks) = self.known.get(&team) {
            return Ok(hooks);
        }
        let before = self.changes.load(Ordering::SeqCst);
        let rows = self.store.scan(Webhook::of_team(team, MAX_WEBHOOKS)).await?;
        let hooks: Arc<[Webhook]> = rows.iter().map(Webhook::of).collect::<Result<_>>()?;
        // What was read during a change may be what was there before it.
        if self.changes.load(Ordering::SeqCst) == before {
            self.known.insert(team, hooks.clone());
        }
        Ok(hooks)
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
