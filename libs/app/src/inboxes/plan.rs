//! Checks new inboxes against the team's plan.

use std::collections::HashSet;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::MutexGuard;
use trapline_model::TeamId;
use trapline_store::{Scan, records::InboxEntry};

use super::{Inboxes, READS_AT_ONCE};
use crate::{Plan, PlanLimit, Result};

/// Messages that a new inbox keeps, where the plan allows as many.
const DEFAULT_MAX_MESSAGES: u32 = 1_000;

impl Inboxes {
    /// How many messages an inbox is to keep: what was asked for, or the default within the plan.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`](crate::Error::QuotaExceeded) when more was asked for than the plan allows.
    pub(super) fn max_messages_in(&self, plan: &Plan, wanted: Option<u32>) -> Result<u32> {
        const LIMIT: PlanLimit = PlanLimit::MessagesPerInbox;
        if let Some(wanted) = wanted {
            self.plans.check(plan, LIMIT, 0, wanted.into())?;
            return Ok(wanted);
        }
        let most = plan.most(LIMIT).and_then(|most| u32::try_from(most).ok());
        Ok(most.map_or(DEFAULT_MAX_MESSAGES, |most| most.min(DEFAULT_MAX_MESSAGES)))
    }

    /// Checks that the team may create one more inbox, and holds its lock until the inbox is stored: of two
    /// requests in this process the first one to count writes first.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`](crate::Error::QuotaExceeded) when its plan does not allow one more, and
    /// when the store does not answer.
    pub(super) async fn lock_creation(
        &self,
        team: TeamId,
        plan: &Plan,
    ) -> Result<Option<MutexGuard<'_, ()>>> {
        let Some(most) = plan.most(PlanLimit::Inboxes) else { return Ok(None) };
        let lock = self.creation_locks.lock(team.0).await;
        // The keys may be of inboxes that are gone, so they are only quick to tell that there is room.
        if self.listed(team).await? >= most {
            let there = self.count(team).await?;
            self.plans.check(plan, PlanLimit::Inboxes, there, 1)?;
        }
        Ok(Some(lock))
    }

    /// How many inboxes the team has.
    pub(crate) async fn count(&self, team: TeamId) -> Result<u64> {
        Ok(self.records_of(team).await?.len() as u64)
    }

    /// How many inboxes are in the list by its keys: those that there are, and maybe others.
    async fn listed(&self, team: TeamId) -> Result<u64> {
        let parts = InboxEntry::of_team(team);
        let parts = parts.map(|scan| self.store.scan(Scan { keys_only: true, ..scan }));
        let rows: Vec<_> = stream::iter(parts).buffered(READS_AT_ONCE).try_collect().await?;
        let ids: HashSet<_> = rows.iter().flatten().filter_map(InboxEntry::inbox_of).collect();
        Ok(ids.len() as u64)
    }
}
