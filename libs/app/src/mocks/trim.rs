//! A mock keeps the newest of what it was asked, sent and made; here what is older is removed.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use moka::sync::Cache;
use trapline_store::{Scan, records::MockEpoch};

use super::{
    Mocks,
    load::MAX_OBJECTS,
    log::MAX_LOG,
    opened::OpenedMock,
    removal::{PAGE_ROWS, remove_page},
};
use crate::{Result, jobs::mock_trim};

/// Mocks whose rows a process counts.
const COUNTED: u64 = 10_000;
/// Rows that a process writes for a mock from one look at what is too old to the next.
const LOOK_EVERY: usize = 1_000;

/// The rows that this process wrote for each mock.
pub(super) struct WrittenRows(Cache<MockEpoch, Arc<AtomicUsize>>);

impl WrittenRows {
    pub(super) fn new() -> Self {
        Self(Cache::new(COUNTED))
    }

    /// Counts rows; whether it is time to look.
    fn add(&self, of: MockEpoch, rows: usize) -> bool {
        let written = self.0.get_with(of, Arc::default);
        let before = written.fetch_add(rows, Ordering::Relaxed);
        before / LOOK_EVERY != before.saturating_add(rows) / LOOK_EVERY
    }
}

impl Mocks {
    /// Counts rows that were written for a mock, and plans a look at what is too old when there were many.
    pub(super) async fn note_written(&self, mock: &OpenedMock, rows: usize) {
        if !self.written.add(mock.of(), rows) {
            return;
        }
        let planned = async {
            let job = mock_trim(mock.of(), &mock.mock.provider, mock.id, self.clock.now())?;
            self.jobs.schedule(&job).await
        };
        if let Err(error) = planned.await {
            tracing::warn!(%error, "what is too old of a mock is removed later");
        }
    }

    /// Removes what a mock of a provider holds beyond its newest 10,000 calls, deliveries and log entries and its newest
    /// 1,000 objects of each kind.
    ///
    /// # Errors
    ///
    /// When the store does not answer; then it may be done again.
    pub(crate) async fn trim(&self, of: MockEpoch, provider: &str) -> Result<()> {
        for log in of.logs(MAX_LOG + 1) {
            let rows = self.store.scan(log.clone()).await?;
            if let Some(first_too_old) = rows.get(MAX_LOG) {
                self.store.write(of.removal_until(&log, first_too_old)).await?;
            }
        }
        let Some(provider) = trapline_mocks::find(provider) else { return Ok(()) };
        for kind in provider.kinds {
            self.trim_objects(of.items(kind.name, PAGE_ROWS), MAX_OBJECTS).await?;
        }
        Ok(())
    }

    /// Removes the rows of a scan that come after the first so many.
    async fn trim_objects(&self, objects: Scan, kept: usize) -> Result<()> {
        let keys = Scan { keys_only: true, limit: kept, ..objects.clone() };
        let newest = self.store.scan(keys).await?;
        let Some(last) = newest.get(kept - 1) else { return Ok(()) };
        let older = Scan { after: Some(last.sort.clone()), ..objects };
        while remove_page(&*self.store, &older).await? {}
        Ok(())
    }
}
