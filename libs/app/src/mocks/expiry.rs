//! Mocks whose time is over. They answer and are shown no more from that moment on; this frees what they held.

use trapline_model::{MockId, TeamId};
use trapline_store::{
    load,
    records::{MaintenanceTask, Mock, TaskKind},
};

use super::{Mocks, is_over};
use crate::Result;

impl Mocks {
    /// Plans the removal of a mock that has an end.
    pub(super) async fn plan_end(&self, mock: &Mock) -> Result<()> {
        let Some(due) = mock.expires_at else { return Ok(()) };
        let task = TaskKind::ExpireMock { team: mock.team, mock: mock.id };
        let task = MaintenanceTask::new(due, mock.id.to_string(), task);
        Ok(self.store.write(vec![task.planned()?]).await?)
    }

    /// Removes a mock whose time is over, and plans the removal of what it held.
    ///
    /// # Errors
    ///
    /// When the store does not answer; then it may be done again.
    pub(crate) async fn expire(&self, team: TeamId, id: MockId) -> Result<()> {
        let row = Mock::row(team, id);
        let Some((mock, version)) = load::<Mock>(&*self.store, &row).await? else { return Ok(()) };
        if !is_over(&mock, self.clock.now()) {
            return Ok(());
        }
        // The row last: while it is there, what was cut off is done again.
        self.remove_later(id, mock.epoch).await?;
        self.remove_slug(&mock.slug).await?;
        Ok(crate::rows::delete_unchanged(&*self.store, row, version).await?)
    }
}
