//! What a team's plan says of its inboxes.

use std::collections::HashSet;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::{Mutex, MutexGuard};
use trapline_model::TeamId;
use trapline_store::{Scan, records::InboxEntry};

use super::{Inboxes, READS_AT_ONCE};
use crate::{Plan, PlanLimit, Result};

const DEFAULT_MAX_MESSAGES: u32 = 1_000;
/// Locks that teams share by their id.
const LOCKS: usize = 64;

/// Whose turn it is to make an inbox, where a plan limits them: who counts first writes first.
pub(super) struct TeamLocks([Mutex<()>; LOCKS]);

impl TeamLocks {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }

    async fn take(&self, team: TeamId) -> MutexGuard<'_, ()> {
        let place = team.0.as_u128() % (LOCKS as u128);
        self.0[usize::try_from(place).unwrap_or(0)].lock().await
    }
}

impl Inboxes {
    /// How many messages an inbox is to keep: what was asked for, or the default within the plan.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`](crate::Error::QuotaExceeded) when more was asked for than the plan allows.
    pub(super) fn bound_in(&self, plan: &Plan, wanted: Option<u32>) -> Result<u32> {
        const LIMIT: PlanLimit = PlanLimit::MessagesPerInbox;
        if let Some(wanted) = wanted {
            self.plans.check(plan, LIMIT, 0, wanted.into())?;
            return Ok(wanted);
        }
        let most = plan.most(LIMIT).and_then(|most| u32::try_from(most).ok());
        Ok(most.map_or(DEFAULT_MAX_MESSAGES, |most| most.min(DEFAULT_MAX_MESSAGES)))
    }

    /// Lets a team make one more inbox, once no other of its requests in this process is at it.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`](crate::Error::QuotaExceeded) when its plan does not allow one more, and
    /// when the store does not answer.
    pub(super) async fn turn_to_create(
        &self,
        team: TeamId,
        plan: &Plan,
    ) -> Result<Option<MutexGuard<'_, ()>>> {
        let Some(most) = plan.most(PlanLimit::Inboxes) else { return Ok(None) };
        let turn = self.turns.take(team).await;
        // The keys may be of inboxes that are gone, so they are only quick to tell that there is room.
        if self.listed(team).await? >= most {
            let there = self.count(team).await?;
            self.plans.check(plan, PlanLimit::Inboxes, there, 1)?;
        }
        Ok(Some(turn))
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
