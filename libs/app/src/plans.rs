//! Plans: what a team may use. They are data; a team's row names the plan that it is on, and tells whether
//! the team is there.

mod catalog;
mod plan;

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use trapline_model::TeamId;
use trapline_store::{
    Op, PortError, Scan, Store, When, load,
    records::{Membership, Team},
};

use crate::{Error, Result, Settings, log_throttle::LogThrottle, metrics};
pub use catalog::PlanCatalog;
pub use plan::{Plan, PlanFeature, PlanLimit};

/// How long a process caches a team's plan.
const CACHE_TTL: Duration = Duration::from_secs(5);
/// Teams in the cache.
const CACHE_CAPACITY: u64 = 10_000;
/// Members that are counted at most.
const MAX_MEMBERS: usize = 100_000;
/// How often a change is tried again when somebody else changes the same team.
const EDIT_TRIES: usize = 8;

/// Which plan each team is on.
pub struct Plans {
    store: Arc<dyn Store>,
    settings: Arc<Settings>,
    known: Cache<TeamId, KnownTeam>,
    missing_plan_log: LogThrottle,
}

/// What a process caches of a team's row.
#[derive(Clone)]
struct KnownTeam {
    plan: Arc<Plan>,
    /// Whether there is such a team, and nobody deleted it.
    is_there: bool,
}

impl Plans {
    pub(crate) fn new(store: Arc<dyn Store>, settings: Arc<Settings>) -> Self {
        let known = Cache::builder().max_capacity(CACHE_CAPACITY).time_to_live(CACHE_TTL).build();
        Self { store, settings, known, missing_plan_log: LogThrottle::new() }
    }

    /// Every plan that a team can be on.
    #[must_use]
    pub fn catalog(&self) -> &PlanCatalog {
        &self.settings.plans
    }

    /// Where people can get a larger plan, if the operator says so.
    #[must_use]
    pub fn upgrade_url(&self) -> Option<&str> {
        self.settings.upgrade_url.as_deref()
    }

    /// The plan that a team is on, as it was at most 5 s ago.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn of(&self, team: TeamId) -> Result<Arc<Plan>> {
        Ok(self.team(team).await?.plan)
    }

    /// Whether there is such a team and nobody deleted it, as it was at most 5 s ago.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn is_there(&self, team: TeamId) -> Result<bool> {
        Ok(self.team(team).await?.is_there)
    }

    /// Forgets a team: it is read anew at once in this process, and within 5 s in every other.
    pub(crate) fn forget(&self, team: TeamId) {
        self.known.invalidate(&team);
    }

    async fn team(&self, team: TeamId) -> Result<KnownTeam> {
        if let Some(known) = self.known.get(&team) {
            return Ok(known);
        }
        let known = if team == TeamId::SERVICE {
            KnownTeam { plan: Arc::new(Plan::of_service()), is_there: true }
        } else {
            let found = load::<Team>(&*self.store, &Team::row(team)).await?;
            let found = found.map(|(team, _)| team).filter(|team| team.deleted_at.is_none());
            let plan =
                found.as_ref().map_or(self.catalog().default_plan(), |it| self.of_record(it));
            KnownTeam { plan: plan.clone(), is_there: found.is_some() }
        };
        self.known.insert(team, known.clone());
        Ok(known)
    }

    /// The plan of a team's row; the default plan where the file of plans no longer has it.
    fn of_record(&self, team: &Team) -> &Arc<Plan> {
        self.catalog().find(&team.plan).unwrap_or_else(|| {
            if let Some(left_out) = self.missing_plan_log.due() {
                tracing::warn!(team = %team.id, plan = team.plan, left_out, "there is no such plan");
            }
            self.catalog().default_plan()
        })
    }

    /// Puts a team on another plan: at once in this process, and within 5 s in every other.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when there is no such team, and [`Error::Conflict`] when others change it
    /// again and again.
    pub async fn put_team_on(&self, team: TeamId, plan: &Plan) -> Result<()> {
        let row = Team::row(team);
        for _ in 0..EDIT_TRIES {
            let found = load::<Team>(&*self.store, &row).await?;
            let found = found.filter(|(team, _)| team.deleted_at.is_none());
            let (record, version) = found.ok_or(Error::NotFound)?;
            let record = Team { plan: plan.id.clone(), ..record };
            let put = Op::put(&record, None, When::Version(version))?;
            match self.store.write(vec![put]).await {
                Ok(()) => {
                    self.known.invalidate(&team);
                    return Ok(());
                }
                Err(PortError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Conflict)
    }

    /// Checks that a team that uses `used` of something may use `more`.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`] when that is more than its plan allows.
    pub(crate) fn check(&self, plan: &Plan, limit: PlanLimit, used: u64, more: u64) -> Result<()> {
        match plan.most(limit) {
            Some(most) if used.saturating_add(more) > most => Err(self.exceeded(limit, most)),
            _ => Ok(()),
        }
    }

    /// Checks that a team with so many members may have one more.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`] when its plan does not allow it, and when the store does not answer.
    pub async fn check_members(&self, team: TeamId, members: u64) -> Result<()> {
        let plan = self.of(team).await?;
        self.check(&plan, PlanLimit::Members, members, 1)
    }

    /// Checks that a team may have one more member.
    ///
    /// # Errors
    ///
    /// As of [`Plans::check_members`].
    pub(crate) async fn check_room(&self, team: TeamId) -> Result<()> {
        self.check_members(team, self.members(team).await?).await
    }

    /// The number of a team's members, 100,000 at most.
    pub(crate) async fn members(&self, team: TeamId) -> Result<u64> {
        let scan = Scan { keys_only: true, ..Membership::of_team(team, MAX_MEMBERS) };
        Ok(self.store.scan(scan).await?.len() as u64)
    }

    /// Checks that a team's plan includes a feature.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureUnavailable`] when it does not, and when the store does not answer.
    pub(crate) async fn require(&self, team: TeamId, feature: PlanFeature) -> Result<()> {
        if self.of(team).await?.includes(feature) {
            return Ok(());
        }
        metrics::plan_refused(feature.name());
        Err(Error::FeatureUnavailable { feature, upgrade_url: self.settings.upgrade_url.clone() })
    }

    /// The error of somebody who reached a limit.
    pub(crate) fn exceeded(&self, limit: PlanLimit, most: u64) -> Error {
        metrics::plan_refused(limit.name());
        Error::QuotaExceeded { limit, most, upgrade_url: self.settings.upgrade_url.clone() }
    }
}

#[cfg(test)]
mod tests;
