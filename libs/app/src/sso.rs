//! Single sign-on of teams by `OpenID` Connect. It uses people.
//!
//! A provider's address and answers are a team's input. A provider vouches for people to its own team only,
//! and only for addresses of domains that the operator verified as the team's.

mod connection;
mod domains;
mod provider;
mod sign_in;

use std::sync::{Arc, OnceLock};

use tokio::sync::Semaphore;
use trapline_model::TeamId;
use trapline_store::{
    Clock, Store, load,
    records::{Sso, SsoDomain},
};

use crate::{
    AuditLog, Error, People, Result, Settings,
    audit::{Target, TargetKind},
    parts::Parts,
    plans::Plans,
    secrets::Secrets,
};
pub use connection::SsoSettings;
pub use provider::{
    Authorization, ExternalAccount, IdentityProvider, ProviderAnswer, ProviderClient,
};
pub use sign_in::{SsoAnswer, SsoStart};

/// Exchanges with providers at the same time in a process; each has the memory of a few answers of 64 KiB,
/// and a deadline. A further one is [`Error::TooMany`].
const MAX_CONCURRENT_EXCHANGES: usize = 32;

/// Sign-in of a team's people at its identity provider.
pub struct SingleSignOn {
    store: Arc<dyn Store>,
    clock: Clock,
    secrets: Arc<Secrets>,
    settings: Arc<Settings>,
    audit: Arc<AuditLog>,
    plans: Arc<Plans>,
    people: Arc<People>,
    provider: OnceLock<Arc<dyn IdentityProvider>>,
    exchanges: Semaphore,
}

impl SingleSignOn {
    pub(crate) fn new(parts: &Parts, people: Arc<People>) -> Self {
        Self {
            store: parts.ports.store.clone(),
            clock: parts.clock.clone(),
            secrets: parts.secrets.clone(),
            settings: parts.settings.clone(),
            audit: parts.audit.clone(),
            plans: parts.plans.clone(),
            people,
            provider: OnceLock::new(),
            exchanges: Semaphore::new(MAX_CONCURRENT_EXCHANGES),
        }
    }

    /// Sets the client of providers, once; a later one is ignored.
    pub fn set_provider(&self, provider: Arc<dyn IdentityProvider>) {
        drop(self.provider.set(provider));
    }

    /// The client of providers.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where none is set, as in a command.
    fn provider(&self) -> Result<&dyn IdentityProvider> {
        self.provider.get().map(AsRef::as_ref).ok_or(Error::Unavailable)
    }

    /// The settings of a team that nobody deleted, and their version.
    async fn of_team(&self, team: TeamId) -> Result<Option<(Sso, i64)>> {
        if !self.plans.is_there(team).await? {
            return Ok(None);
        }
        Ok(load::<Sso>(&*self.store, &Sso::row(team)).await?)
    }

    /// The team of a verified domain, and the version of the row.
    async fn domain(&self, domain: &str) -> Result<Option<(SsoDomain, i64)>> {
        Ok(load::<SsoDomain>(&*self.store, &SsoDomain::row(domain)).await?)
    }

    /// The redirection URI. Each team has its own, so that no team's provider gets the code of another one
    /// (RFC 9700, section 4.4.2).
    fn redirect_uri(&self, team: TeamId) -> String {
        format!("{}/api/auth/sso/{team}/callback", self.settings.base_url)
    }

    /// This service as a client of the team's provider.
    fn client(&self, sso: &Sso) -> Result<ProviderClient> {
        Ok(ProviderClient {
            issuer: sso.issuer.clone(),
            client_id: sso.client_id.clone(),
            client_secret: self.secrets.open(&seal_context(sso.team), &sso.client_secret)?,
            redirect_uri: self.redirect_uri(sso.team),
        })
    }
}

/// The context that a client's secret is sealed with.
fn seal_context(team: TeamId) -> String {
    format!("sso:{team}")
}

fn target_of(sso: &Sso) -> Target {
    Target::new(TargetKind::Sso, &sso.team, &sso.issuer)
}
