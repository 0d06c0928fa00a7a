//! Mock identity providers: made, listed, changed, removed; their keys and test users, and what
//! happened at them.
//!
//! Nothing of a provider is kept in memory between requests but where its slug leads and its parsed
//! keys, neither of which ever changes: a change counts from the next request on, at any process
//! ([ADR 20](../../../docs/adr/0020-mock-identity-providers.md)).

mod checks;
mod events;
mod faults;
mod keys;
mod manage;
mod present;
mod provider;
mod removal;
mod rotate;
mod saml;
mod sessions;
mod settings;
mod sign_in;
mod slugs;
mod uris;
mod users;

use std::sync::Arc;

use moka::sync::Cache;
use trapline_model::{Idp, IdpId, Principal, TeamId};
use trapline_store::{Clock, Store, load, load_all, records::IdpRecord};

use crate::{
    AccessControl, AuditAction, AuditLog, Error, Jobs, Result, Settings, Supervisor,
    audit::Target,
    ids::Ids,
    keyed_locks::KeyedLocks,
    parts::Parts,
    plans::Plans,
    row_counts::RowCounts,
    rows::RowReader,
    secrets::{Secrets, new_token},
    storage_room::StorageRoom,
};

use events::EventThrottle;
pub use events::{EventQuery, NewIdpEvent};
pub use faults::{FaultProtocol, FaultScenario, FaultUse, NewIdpFault};
pub(crate) use keys::RsaKeys;
pub use provider::IdpHandle;
use provider::SigningKey;
pub use rotate::IdpRotation;
pub use saml::SamlKey;
pub use sessions::{IdpSession, SamlSession};
pub use settings::{IdpChange, NewIdp};
pub use sign_in::{CODE_LIFETIME, Redeemed, RefreshToken, Refreshed};
pub use uris::web_url_problem;
pub use users::{IdpUserChange, NewIdpUser};

/// The most providers of one team.
const MAX_IDPS: usize = 1_000;
/// Slugs whose provider is known; of each some 100 bytes.
const SLUG_CAPACITY: u64 = 100_000;
/// Private keys that are kept parsed.
const KEY_CAPACITY: u64 = 1_000;

/// Mock identity providers. It uses access, for the inboxes that mail addresses lead to.
pub struct Idps {
    store: Arc<dyn Store>,
    clock: Clock,
    ids: Arc<Ids>,
    secrets: Arc<Secrets>,
    audit: Arc<AuditLog>,
    settings: Arc<Settings>,
    plans: Arc<Plans>,
    room: Arc<StorageRoom>,
    jobs: Jobs,
    rows: RowReader,
    counts: RowCounts,
    access: Arc<AccessControl>,
    rsa: RsaKeys,
    fault_locks: KeyedLocks,
    events: EventThrottle,
    /// Where slugs lead; for as long as the process lives, since none leads anywhere else again soon.
    slugs: Cache<String, (TeamId, IdpId)>,
    /// Private keys that were read, by their ids.
    parsed: Cache<String, Arc<SigningKey>>,
}

impl Idps {
    /// Also starts what keeps RSA keys ready, once the first was asked for.
    pub(crate) fn start(parts: &Parts, access: Arc<AccessControl>, tasks: &Supervisor) -> Self {
        Self {
            store: parts.ports.store.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            secrets: parts.secrets.clone(),
            audit: parts.audit.clone(),
            settings: parts.settings.clone(),
            plans: parts.plans.clone(),
            room: parts.room.clone(),
            jobs: parts.jobs.clone(),
            rows: parts.rows.clone(),
            counts: RowCounts::new(parts.ports.store.clone(), parts.clock.clone()),
            access,
            rsa: RsaKeys::start(parts.shutdown.clone(), tasks),
            fault_locks: KeyedLocks::new(),
            events: EventThrottle::new(parts.clock.clone()),
            slugs: Cache::new(SLUG_CAPACITY),
            parsed: Cache::new(KEY_CAPACITY),
        }
    }

    /// The team's providers, oldest first; without their secrets for a principal that may only read.
    ///
    /// # Errors
    ///
    /// When the store does not answer, and [`Error::WrongMasterKey`] when a secret does not open.
    pub async fn list(&self, by: &Principal) -> Result<Vec<Idp>> {
        let found: Vec<IdpRecord> =
            load_all(&*self.store, IdpRecord::of_team(by.team, MAX_IDPS)).await?;
        found.iter().map(|idp| self.present(idp, by)).collect()
    }

    /// One provider; without its secret for a principal that may only read.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider, [`Error::WrongMasterKey`] when its secret
    /// does not open, and when the store does not answer.
    pub async fn get(&self, by: &Principal, id: IdpId) -> Result<Idp> {
        self.present(&self.load_record(by.team, id).await?, by)
    }

    /// Writes an entry of the activity log, before the answer that it tells of is sent. What it tells of goes
    /// on where that fails, which is counted.
    pub async fn record(&self, provider: &IdpHandle, event: NewIdpEvent) {
        self.record_event(&provider.settings, event).await;
    }

    /// 256 random bits as text, for ids of tokens and of flows.
    #[must_use]
    pub fn random_id(&self) -> String {
        new_token()
    }

    async fn load_record(&self, team: TeamId, id: IdpId) -> Result<IdpRecord> {
        self.versioned(team, id).await.map(|(idp, _)| idp)
    }

    async fn versioned(&self, team: TeamId, id: IdpId) -> Result<(IdpRecord, i64)> {
        load(&*self.store, &IdpRecord::row(team, id)).await?.ok_or(Error::NotFound)
    }

    /// Changes a provider that others may be changing at the same moment.
    async fn edit(
        &self,
        by: &Principal,
        id: IdpId,
        action: AuditAction,
        change: impl Fn(&mut IdpRecord),
    ) -> Result<IdpRecord> {
        let change = |idp: &mut IdpRecord| {
            change(idp);
            idp.updated_at = self.clock.now();
            Ok(())
        };
        self.audit.edit(by, action, &IdpRecord::row(by.team, id), Target::idp, change).await
    }
}

/// What a client's secret is sealed for.
fn secret_context(id: IdpId) -> String {
    format!("idp-secret:{id}")
}
