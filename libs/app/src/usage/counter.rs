//! Messages by team and month, counted in memory and written together.
//!
//! A process has a row of its own for each team and month, which it overwrites with its running total. So
//! a write that is repeated counts nothing twice, no process waits for another one, and what is lost by a
//! kill is what was counted since the last write.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{StreamExt as _, stream};
use trapline_model::TeamId;
use trapline_store::{Op, Record as _, Store, When, load, records::Usage};

use super::Month;
use crate::{
    Result,
    log_throttle::LogThrottle,
    parts::Parts,
    rows::Pages,
    secrets::{BASE62, random_text},
};

/// The name of the only process of a data folder: it continues the row of the process before it.
const SOLE_PROCESS: &str = "serve";
const PROCESS_NAME_LENGTH: usize = 22;
/// Rows of other processes that are read at a time.
const PAGE_ROWS: usize = 1_000;
/// Rows that are written, and teams that are read, at the same time.
const MAX_CONCURRENT_ROWS: usize = 32;
/// Counts that are kept in memory at most once they are written; a count is about 100 bytes.
const CACHE_CAPACITY: usize = 10_000;

type TeamMonth = (TeamId, Month);

/// A count of this process.
#[derive(Debug, Clone, Copy, Default)]
struct OwnCount {
    /// What was in this process's row before; `None` until that is read.
    base: Option<u64>,
    counted: u64,
    /// How much of `counted` is written.
    written: u64,
}

/// The sum of other processes' counts.
#[derive(Debug, Clone, Copy)]
struct OthersCount {
    sum: u64,
    /// Whether somebody asked since it was read.
    is_used: bool,
}

pub(super) struct MonthlyCounter {
    store: Arc<dyn Store>,
    process: String,
    /// Whether no other process stores anything.
    is_alone: bool,
    own: Mutex<HashMap<TeamMonth, OwnCount>>,
    others: Mutex<HashMap<TeamMonth, OthersCount>>,
    /// Held by who reads or writes this process's rows.
    rows: tokio::sync::Mutex<()>,
    not_written: LogThrottle,
}

impl MonthlyCounter {
    pub(super) fn new(parts: &Parts) -> Self {
        Self::with_store(parts.ports.store.clone(), parts.is_alone)
    }

    fn with_store(store: Arc<dyn Store>, is_alone: bool) -> Self {
        Self {
            store,
            process: if is_alone {
                SOLE_PROCESS.to_owned()
            } else {
                random_text(PROCESS_NAME_LENGTH, BASE62)
            },
            is_alone,
            own: Mutex::default(),
            others: Mutex::default(),
            rows: tokio::sync::Mutex::default(),
            not_written: LogThrottle::new(),
        }
    }

    /// Counts one message for each of these teams.
    pub(super) fn count(&self, month: Month, teams: impl Iterator<Item = TeamId>) {
        let mut own = self.own();
        for team in teams {
            own.entry((team, month)).or_default().counted += 1;
        }
    }

    /// What the team used in the month, of which a second's worth of other processes may be missing.
    pub(super) async fn used(&self, team: TeamId, month: Month) -> Result<u64> {
        let key = (team, month);
        let others = if self.is_alone { 0 } else { self.known_others(key).await? };
        Ok(others + self.own_total(key).await?)
    }

    /// The same, with all that others have written by now.
    pub(super) async fn read(&self, team: TeamId, month: Month) -> Result<u64> {
        let key = (team, month);
        Ok(self.read_others(key).await? + self.own_total(key).await?)
    }

    async fn known_others(&self, key: TeamMonth) -> Result<u64> {
        if let Some(others) = self.others().get_mut(&key) {
            others.is_used = true;
            return Ok(others.sum);
        }
        let sum = self.read_others(key).await?;
        self.others().insert(key, OthersCount { sum, is_used: true });
        Ok(sum)
    }

    /// Reads again what others counted for teams that send mail, and forgets it of those that do not.
    pub(super) async fn refresh_others(&self) {
        let mut used = Vec::new();
        self.others().retain(|key, others| {
            used.extend(others.is_used.then_some(*key));
            std::mem::take(&mut others.is_used)
        });
        let reads = stream::iter(used).for_each_concurrent(MAX_CONCURRENT_ROWS, |key| async move {
            match self.read_others(key).await {
                Ok(sum) => {
                    if let Some(others) = self.others().get_mut(&key) {
                        others.sum = sum;
                    }
                }
                Err(error) => tracing::debug!(%error, "what other processes counted was not read"),
            }
        });
        reads.await;
    }

    async fn read_others(&self, (team, month): TeamMonth) -> Result<u64> {
        let scan = Usage::of_month(team, month.number(), PAGE_ROWS);
        let (mut sum, mut pages) = (0_u64, Pages::of(&*self.store, scan));
        while let Some(rows) = pages.next().await? {
            for row in &rows {
                let usage = Usage::of(row)?;
                if usage.process != self.process {
                    sum = sum.saturating_add(usage.messages);
                }
            }
        }
        Ok(sum)
    }

    /// All that is or will be in this process's row.
    async fn own_total(&self, key: TeamMonth) -> Result<u64> {
        let known = self.own().get(&key).copied().unwrap_or_default();
        if let Some(base) = known.base {
            return Ok(base + known.counted);
        }
        let _rows = self.rows.lock().await;
        let base = self.read_base(key).await?;
        let mut own = self.own();
        let own = own.entry(key).or_default();
        own.base = Some(base);
        Ok(base + own.counted)
    }

    /// What was in this process's row before it counted. Asked while nobody writes the row.
    async fn read_base(&self, (team, month): TeamMonth) -> Result<u64> {
        if let Some(base) = self.own().get(&(team, month)).and_then(|own| own.base) {
            return Ok(base);
        }
        let row = Usage::row(team, month.number(), &self.process);
        let found = load::<Usage>(&*self.store, &row).await?;
        Ok(found.map_or(0, |(usage, _)| usage.messages))
    }

    /// Writes what was counted. What could not be written is written the next time.
    pub(super) async fn flush(&self) {
        let _rows = self.rows.lock().await;
        let due: Vec<_> = {
            let own = self.own();
            let due = own.iter().filter(|(_, own)| own.counted > own.written);
            due.map(|(key, own)| (*key, own.counted)).collect()
        };
        let writes = stream::iter(due).for_each_concurrent(
            MAX_CONCURRENT_ROWS,
            |(key, counted)| async move {
                if let Err(error) = self.write(key, counted).await
                    && let Some(left_out) = self.not_written.due()
                {
                    tracing::warn!(%error, left_out, "a count of messages is not written yet");
                }
            },
        );
        writes.await;
        self.evict_written();
    }

    async fn write(&self, key: TeamMonth, counted: u64) -> Result<()> {
        let base = self.read_base(key).await?;
        // Known before anything is written, or the next read would count this as well.
        self.own().entry(key).or_default().base = Some(base);
        let ((team, month), process) = (key, self.process.clone());
        let usage = Usage { team, month: month.number(), process, messages: base + counted };
        let put = Op::put(&usage, Some(Usage::TTL), When::Always)?;
        self.store.write(vec![put]).await?;
        if let Some(own) = self.own().get_mut(&key) {
            own.written = counted;
        }
        Ok(())
    }

    /// Drops the counts that are written, once there are more than [`CACHE_CAPACITY`].
    fn evict_written(&self) {
        let mut own = self.own();
        if own.len() > CACHE_CAPACITY {
            own.retain(|_, own| own.counted > own.written);
        }
    }

    fn own(&self) -> MutexGuard<'_, HashMap<TeamMonth, OwnCount>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn others(&self) -> MutexGuard<'_, HashMap<TeamMonth, OthersCount>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
