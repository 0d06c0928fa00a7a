//! Removes what a mock kept before it was cleared or deleted.

use trapline_model::{MockId, TeamId};
use trapline_store::{
    Record as _, Scan, Store,
    records::{Mock, MockBySlug, MockEpoch, removal_of_mock, removal_of_rows},
};

use super::Mocks;
use crate::{Result, jobs::mock_removal, rows::delete_unchanged};

/// Rows that a step removes at most.
pub(super) const PAGE_ROWS: usize = 100;

impl Mocks {
    /// Stores the job that removes what an epoch held.
    pub(super) async fn remove_later(&self, mock: MockId, epoch: i64) -> Result<()> {
        let of = MockEpoch { mock, epoch };
        Ok(self.jobs.schedule(&mock_removal(of, self.clock.now())?).await?)
    }

    /// Does a step of a removal. Whether there was something.
    pub(crate) async fn remove_some(&self, of: MockEpoch) -> Result<bool> {
        remove_some_of(&*self.store, of).await
    }

    /// Removes some of what a deleted team's mocks hold, and the mocks. Whether there was something.
    pub(crate) async fn remove_some_of_team(&self, team: TeamId) -> Result<bool> {
        let rows = self.store.scan(Mock::of_team(team, PAGE_ROWS)).await?;
        // A row that cannot be read leads nowhere; it goes with the other rows of the team.
        let mocks: Vec<_> = rows.iter().filter_map(|row| Mock::of(row).ok()).collect();
        let is_some = !mocks.is_empty();
        for mock in mocks {
            if self.remove_some(MockEpoch { mock: mock.id, epoch: mock.epoch }).await? {
                return Ok(true);
            }
            self.remove_slug(&mock.slug).await?;
            self.remove_row(Mock::row(team, mock.id)).await?;
        }
        Ok(is_some)
    }

    pub(super) async fn remove_slug(&self, slug: &str) -> Result<()> {
        self.remove_row(MockBySlug::row(slug)).await
    }

    async fn remove_row(&self, key: trapline_store::Key) -> Result<()> {
        let Some(row) = self.store.get(&key).await? else { return Ok(()) };
        Ok(delete_unchanged(&*self.store, key, row.version).await?)
    }
}

async fn remove_some_of(store: &dyn Store, of: MockEpoch) -> Result<bool> {
    let is_some = remove_page(store, &of.all_items(PAGE_ROWS)).await?;
    if !is_some {
        store.write(removal_of_mock(of)).await?;
    }
    Ok(is_some)
}

/// Removes the rows of a scan by one write. Whether there were any.
pub(super) async fn remove_page(store: &dyn Store, page: &Scan) -> Result<bool> {
    let rows = store.scan(page.clone()).await?;
    if !rows.is_empty() {
        store.write(removal_of_rows(page, &rows)).await?;
    }
    Ok(!rows.is_empty())
}
