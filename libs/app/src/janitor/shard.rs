//! A share of the janitor's work, and whether it is this process's.

use std::time::Duration;

use trapline_model::Time;
use trapline_store::Value;

use crate::{App, Result};

/// How long a process that was killed keeps its shards.
const LEASE: Duration = Duration::from_secs(30);

/// One shard as this process sees it.
pub(super) struct Shard {
    pub number: i64,
    /// `None` works without a lease.
    holder: Option<String>,
    held_until: Option<Time>,
    /// Every chore that was due before is done.
    pub clean_until: Option<Time>,
    /// When the outbox is looked at next.
    pub repair_at: Option<Time>,
    /// Where the search for room goes on: the hour, and the last chore that it saw of that hour.
    pub looked_at: Option<(i64, Option<Vec<Value>>)>,
}

impl Shard {
    pub(super) fn of(number: i64, holder: &str) -> Self {
        Self { holder: Some(holder.to_owned()), ..Self::unshared(number) }
    }

    pub(super) fn unshared(number: i64) -> Self {
        Self {
            number,
            holder: None,
            held_until: None,
            clean_until: None,
            repair_at: None,
            looked_at: None,
        }
    }

    pub(super) fn is_held(&self, now: Time) -> bool {
        self.held_until.is_some_and(|until| now < until)
    }

    /// Whether the next piece of work is this process's to do; takes or renews the lease.
    pub(super) async fn may_work(&mut self, app: &App) -> Result<bool> {
        let Some(holder) = &self.holder else { return Ok(true) };
        let now = app.now();
        if self.held_until.is_some_and(|until| until.since(now) > LEASE / 2) {
            return Ok(true);
        }
        if !self.is_held(now) {
            // Another process may have worked here meanwhile; what it left is read anew.
            (self.clean_until, self.repair_at) = (None, None);
        }
        let held = app.hold(&self.name(), holder, LEASE).await?;
        self.held_until = held.then(|| now.after(LEASE));
        Ok(held)
    }

    pub(super) async fn give_up(&mut self, app: &App) -> Result<()> {
        match (&self.holder, self.held_until.take()) {
            (Some(holder), Some(_)) => app.release(&self.name(), holder).await,
            _ => Ok(()),
        }
    }

    fn name(&self) -> String {
        format!("janitor:{}", self.number)
    }
}
