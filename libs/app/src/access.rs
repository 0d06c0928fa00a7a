//! Access: teams, their API keys, and the credentials of their inboxes. It finds out who somebody is,
//! and slows down who guesses. It uses no other service.

mod allowances;
mod attempts;
mod keys;
mod logins;
mod manage_keys;
mod shared_secret;

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use trapline_model::{ApiKeyId, TeamId};
use trapline_store::{Clock, Op, Store, When, load, records};

use crate::{
    AuditLog, FirstSteps, Result, ids::Ids, limits::Limits, parts::Parts, plans::Plans,
    secrets::Secrets,
};
use allowances::Rates;
use attempts::FailedAttempts;
pub use keys::NewKey;
pub use logins::{DeliveryTarget, LoginRefused};
pub(crate) use logins::{Logins, password_context};
pub use manage_keys::ApiKeyDetails;

/// How long a process caches keys and logins, which another process may change.
pub(crate) const CACHE_TTL: Duration = Duration::from_secs(5);
/// Keys, and as many logins, in the cache of a process.
const CACHE_CAPACITY: u64 = 10_000;
/// Shortest time between two writes of a key's last use.
const KEY_USE_INTERVAL: Duration = Duration::from_mins(1);

/// Teams, API keys and credentials.
pub struct AccessControl {
    store: Arc<dyn Store>,
    clock: Clock,
    ids: Arc<Ids>,
    secrets: Arc<Secrets>,
    audit: Arc<AuditLog>,
    first_steps: Arc<FirstSteps>,
    limits: Limits,
    plans: Arc<Plans>,
    /// The API's rate limits.
    rates: Rates,
    logins: Arc<Logins>,
    /// Keys by the SHA-256 of their values.
    keys: Cache<String, Arc<records::ApiKeyByHash>>,
    /// Keys whose last use was written within [`KEY_USE_INTERVAL`].
    key_uses: Cache<ApiKeyId, ()>,
    attempts: FailedAttempts,
}

impl AccessControl {
    pub(crate) fn new(parts: &Parts, logins: Arc<Logins>) -> Self {
        Self {
            store: parts.ports.store.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            secrets: parts.secrets.clone(),
            audit: parts.audit.clone(),
            first_steps: parts.first_steps.clone(),
            limits: parts.limits.clone(),
            plans: parts.plans.clone(),
            rates: Rates {
                team: parts.settings.api_rate,
                actor: parts.settings.key_rate,
                address: parts.settings.address_rate,
            },
            logins,
            keys: Cache::builder().max_capacity(CACHE_CAPACITY).time_to_live(CACHE_TTL).build(),
            key_uses: Cache::builder()
                .max_capacity(CACHE_CAPACITY)
                .time_to_live(KEY_USE_INTERVAL)
                .build(),
            attempts: FailedAttempts::new(CACHE_CAPACITY, CACHE_TTL),
        }
    }

    /// Makes a team on the default plan and returns its id.
    ///
    /// # Errors
    ///
    /// When the store does not take it.
    pub async fn create_team(&self, name: &str) -> Result<TeamId> {
        let plan = self.plans.catalog().default_plan();
        self.create_team_on(&plan.id, name).await
    }

    /// Makes a team on the plan with this id.
    pub(crate) async fn create_team_on(&self, plan: &str, name: &str) -> Result<TeamId> {
        let team = records::Team {
            id: TeamId(self.ids.next()),
            name: name.to_owned(),
            created_at: self.clock.now(),
            plan: plan.to_owned(),
            deleted_at: None,
        };
        let put = Op::put(&team, None, When::Absent)?;
        self.store.write(vec![put]).await?;
        Ok(team.id)
    }

    /// Whether there is such a team.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn team_exists(&self, team: TeamId) -> Result<bool> {
        let found = load::<records::Team>(&*self.store, &records::Team::row(team)).await?;
        Ok(found.is_some_and(|(team, _)| team.deleted_at.is_none()))
    }

    /// The first team, once there is an installation.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn first_team(&self) -> Result<Option<TeamId>> {
        Ok(self.installed().await?.map(|run| run.team))
    }

    /// The first team's row, once it is there.
    pub(crate) async fn installed(&self) -> Result<Option<records::FirstRun>> {
        let found = load(&*self.store, &records::FirstRun::row()).await?;
        Ok(found.map(|(run, _)| run))
    }
}
