//! Single sign-on of teams by `OpenID` Connect. It uses people.
//!
//! A provider's address and answers are a team's input. What it says of somebody counts for that team
//! only, and for addresses of domains only that the operator verified as the team's.

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

/// Conversations with providers at the same time in a process; each has the memory of a few answers of
/// 64 KiB, and ends with its deadline. The next one is told to come later.
const CONVERSATIONS: usize = 32;

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
    conversations: Semaphore,
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
            conversations: Semaphore::new(CONVERSATIONS),
        }
    }

    /// Gives it what speaks to providers; the first one stays.
    pub fn set_provider(&self, provider: Arc<dyn IdentityProvider>) {
        drop(self.provider.set(provider));
    }

    /// What speaks to providers; a command beside the servers has none.
    fn provider(&self) -> Result<&dyn IdentityProvider> {
        self.provider.get().map(AsRef::as_ref).ok_or(Error::Unavailable)
    }

    /// The row of a team that is there, and its version.
    async fn of_team(&self, team: TeamId) -> Result<Option<(Sso, i64)>> {
        if !self.plans.is_there(team).await? {
            return Ok(None);
        }
        Ok(load::<Sso>(&*self.store, &Sso::row(team)).await?)
    }

    /// Whose a domain is, and the version of the row.
    async fn domain(&self, domain: &str) -> Result<Option<(SsoDomain, i64)>> {
        Ok(load::<SsoDomain>(&*self.store, &SsoDomain::row(domain)).await?)
    }

    /// Where the provider sends people back to. Each team has an address of its own, so that no team's
    /// provider is given what another one's was asked for (RFC 9700, section 4.4.2).
    fn redirect_uri(&self, team: TeamId) -> String {
        format!("{}/api/auth/sso/{team}/callback", self.settings.base_url)
    }

    /// What speaks to the team's provider as its client.
    fn client(&self, sso: &Sso) -> Result<ProviderClient> {
        Ok(ProviderClient {
            issuer: sso.issuer.clone(),
            client_id: sso.client_id.clone(),
            client_secret: self.secrets.open(&seal_context(sso.team), &sso.client_secret)?,
            redirect_uri: self.redirect_uri(sso.team),
        })
    }
}

/// What a client's secret is sealed for.
fn seal_context(team: TeamId) -> String {
    format!("sso:{team}")
}

fn target_of(sso: &Sso) -> Target {
    Target::new(TargetKind::Sso, &sso.team, &sso.issuer)
}
