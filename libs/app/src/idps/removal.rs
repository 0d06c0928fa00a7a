//! What goes with a provider, and providers that go with their team.

use std::time::Duration;

use trapline_model::{IdpId, TeamId};
use trapline_store::{
    Lane, Scan, Value,
    records::{IdpEventRecord, IdpRecord, IdpSubject, IdpUserRecord, removal_of_rows},
};
use uuid::Uuid;

use super::Idps;
use crate::{
    Error, Result,
    jobs::{self, HousekeepingWork},
};

/// Longer than any request that began before.
const REMOVE_AFTER: Duration = Duration::from_mins(1);
/// Rows that are read and removed at a time.
const PAGE_ROWS: usize = 100;

impl Idps {
    /// Stores the job that removes what a provider has.
    pub(super) async fn schedule_removal(&self, idp: &IdpRecord) -> Result<()> {
        let (team, slug) = (idp.team, idp.slug.clone());
        let work = HousekeepingWork::RemoveIdp { team, idp: idp.id, slug, epoch: idp.epoch };
        let due = self.clock.now().after(REMOVE_AFTER);
        let job = jobs::job(Lane::Housekeeping, format!("remove-idp:{}", idp.id), 1, work, due)?;
        Ok(self.jobs.schedule(&job).await?)
    }

    /// Removes what a provider had.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] for as long as the provider is there, and when somebody changes a row at the
    /// same moment; and when the store does not answer. It may be done again.
    pub(crate) async fn remove_deleted(
        &self,
        team: TeamId,
        idp: IdpId,
        slug: &str,
        epoch: i64,
    ) -> Result<()> {
        if self.store.get(&IdpRecord::row(team, idp)).await?.is_some() {
            return Err(Error::Conflict);
        }
        self.retire_slug(slug, idp).await?;
        self.remove_contents(idp, epoch).await
    }

    /// Removes some providers of a team that was deleted, with all that they have. Returns whether there
    /// were any.
    ///
    /// # Errors
    ///
    /// Those of [`Idps::remove_deleted`].
    pub(crate) async fn remove_some_of(&self, team: TeamId, limit: usize) -> Result<bool> {
        let scan = IdpRecord::of_team(team, limit);
        let rows = self.store.scan(scan.clone()).await?;
        for row in &rows {
            let idp = self.rows.decode::<IdpRecord>(row);
            if let Some(idp) = &idp {
                self.retire_slug(&idp.slug, idp.id).await?;
            }
            if let [Value::Uuid(id)] = row.sort.as_slice() {
                self.remove_contents(IdpId(*id), idp.map_or(0, |idp| idp.epoch)).await?;
            }
        }
        // The provider itself goes last: by it the rest is found when this is cut off.
        self.store.write(removal_of_rows(&scan, &rows)).await?;
        Ok(!rows.is_empty())
    }

    async fn remove_contents(&self, idp: IdpId, epoch: i64) -> Result<()> {
        for part in [IdpUserRecord::of_idp(idp, PAGE_ROWS), IdpSubject::of_idp(idp, PAGE_ROWS)] {
            self.remove_all(Scan { keys_only: true, ..part }).await?;
        }
        self.remove_fault_row(idp).await?;
        let events = IdpEventRecord::removal_from(idp, epoch, Uuid::max());
        Ok(self.store.write(vec![events]).await?)
    }

    async fn remove_all(&self, part: Scan) -> Result<()> {
        loop {
            let rows = self.store.scan(part.clone()).await?;
            self.store.write(removal_of_rows(&part, &rows)).await?;
            if rows.len() < part.limit {
                return Ok(());
            }
        }
    }
}
