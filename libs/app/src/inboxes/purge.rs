//! Removes the messages of a deleted inbox.

use std::time::Duration;

use trapline_model::{InboxId, TeamId};
use trapline_store::{
    Lane,
    records::{Inbox, removal_of_inbox},
};

use super::Inboxes;
use crate::{
    DeliveryTarget, Error, Result,
    jobs::{self, HousekeepingWork},
    segment_reviews::plan_reviews,
};

/// Longer than a process may rely on what it knows of a login: mail that one still took for the
/// inbox goes too.
const PURGE_AFTER: Duration = Duration::from_secs(10);

impl Inboxes {
    /// Stores the job that removes the inbox's messages.
    pub(super) async fn schedule_purge(&self, inbox: &Inbox) -> Result<()> {
        let username = Some(inbox.username.clone());
        let work = HousekeepingWork::Purge { team: inbox.team, inbox: inbox.id, username };
        let due = self.clock.now().after(PURGE_AFTER);
        let job = jobs::job(Lane::Housekeeping, format!("purge:{}", inbox.id), 1, work, due)?;
        Ok(self.jobs.schedule(&job).await?)
    }

    /// Removes what an inbox holds that was deleted while mail for it was being stored.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] when the inbox is there after all.
    pub async fn discard(&self, target: &DeliveryTarget) -> Result<()> {
        self.purge_deleted(target.0.team, target.inbox(), Some(&target.0.username)).await
    }

    /// Does the work of a purge.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] for as long as the inbox is there: the request that deletes it stores the
    /// job first.
    pub(crate) async fn purge_deleted(
        &self,
        team: TeamId,
        inbox: InboxId,
        username: Option<&str>,
    ) -> Result<()> {
        if self.store.get(&Inbox::row(inbox)).await?.is_some() {
            return Err(Error::Conflict);
        }
        // What a change at the same moment wrote again, or a crash left behind.
        self.remove_leftovers(team, inbox, username).await?;
        self.dependent.inbox_removed(team, inbox).await?;
        self.purge(inbox).await
    }

    /// Removes every row that an inbox held, and plans reviews of its segments.
    pub(super) async fn purge(&self, inbox: InboxId) -> Result<()> {
        plan_reviews(&*self.store, inbox, None, self.clock.now()).await?;
        self.remove_contents(inbox).await
    }

    /// Removes every row that an inbox held.
    pub(super) async fn remove_contents(&self, inbox: InboxId) -> Result<()> {
        let ops = removal_of_inbox(&*self.store, inbox).await?;
        self.store.write(ops).await?;
        self.versions.changed(inbox).await;
        Ok(())
    }
}
