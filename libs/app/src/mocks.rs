//! Mocks of other providers' APIs: made, listed, changed, removed; and, in the modules below, called.
//!
//! The engine (`trapline_mocks`) is pure: it says which rows a call lacks and what it changes. Here these are read
//! and written, each call in one conditional write of one partition.

mod answer;
mod attempt;
mod capture;
mod engine_run;
mod expiry;
mod fields;
mod handshake;
mod load;
mod log;
mod opened;
mod page;
mod present;
mod removal;
mod rows;
mod sealing;
mod send;
mod simulate;
mod trim;

use std::sync::Arc;

use moka::sync::Cache;
use serde_json::Value;
use trapline_mocks::{Chance, MockSettings, Provider, merge};
use trapline_model::{
    ApiMock, MockCategory, MockId, MockProvider, Principal, ProjectId, TeamId, Time,
};
use trapline_store::{
    Clock, Op, Record as _, Store, When, load_all,
    records::{self, MockBySlug},
};

use crate::{
    AuditAction, AuditLog, Error, Result, Settings, Webhooks,
    audit::Target,
    ids::Ids,
    in_flight::InFlight,
    jobs::Jobs,
    keyed_locks::KeyedLocks,
    limits::Limits,
    parts::Parts,
    row_counts::RowCounts,
    rows::RowReader,
    secrets::{Secrets, random, random_text},
    storage_room::StorageRoom,
};

pub use answer::MockAnswer;
pub use log::{CallQuery, DeliveryQuery};
pub use opened::MockAddress;
pub use page::{MockPageAddress, MockPageDecided};
use rows::OpenedCredentials;
use trim::WrittenRows;

/// The most mocks of one team: jobs of a CI fleet make their own.
const MAX_MOCKS: usize = 10_000;
/// Digits of a slug.
const SLUG_DIGITS: usize = 14;
/// Mocks whose address or credentials are remembered.
const REMEMBERED: u64 = 10_000;

/// Mocks, their calls, what they keep and what they send. It uses webhooks, to send in their way.
pub struct Mocks {
    store: Arc<dyn Store>,
    clock: Clock,
    ids: Arc<Ids>,
    secrets: Arc<Secrets>,
    audit: Arc<AuditLog>,
    settings: Arc<Settings>,
    limits: Limits,
    jobs: Jobs,
    room: Arc<StorageRoom>,
    rows: RowReader,
    counts: RowCounts,
    turns: KeyedLocks,
    webhooks: Arc<Webhooks>,
    /// What addresses mean, which never changes.
    slugs: Cache<String, (TeamId, MockId)>,
    /// Addresses that mean nothing.
    unknown: Cache<String, ()>,
    /// Credentials by the version of their mock's row.
    opened: OpenedCredentials,
    /// Deliveries that a job of this process works on.
    in_flight: Arc<InFlight>,
    written: WrittenRows,
}

/// What a new mock is to be.
#[derive(Debug, Clone)]
pub struct NewMock {
    /// What people call it.
    pub name: String,
    /// The provider's id.
    pub provider: String,
    /// Where it sends what happens.
    pub webhook_url: Option<String>,
    /// The project that it is grouped under.
    pub project: Option<ProjectId>,
    /// Minutes after which it goes.
    pub expires_in_minutes: Option<u32>,
}

/// What is to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct MockChange {
    /// What people call it.
    pub name: Option<String>,
    /// Where it sends what happens; `Some(None)` is nowhere.
    pub webhook_url: Option<Option<String>>,
    /// The project; `Some(None)` is none.
    pub project: Option<Option<ProjectId>>,
    /// A JSON merge patch of the settings.
    pub settings: Option<Value>,
}

impl Mocks {
    pub(crate) fn new(parts: &Parts, webhooks: Arc<Webhooks>) -> Self {
        Self {
            store: parts.ports.store.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            secrets: parts.secrets.clone(),
            audit: parts.audit.clone(),
            settings: parts.settings.clone(),
            limits: parts.limits.clone(),
            jobs: parts.jobs.clone(),
            room: parts.room.clone(),
            rows: parts.rows.clone(),
            counts: RowCounts::new(parts.ports.store.clone(), parts.clock.clone()),
            turns: KeyedLocks::new(),
            webhooks,
            slugs: Cache::new(REMEMBERED),
            unknown: Cache::builder()
                .max_capacity(REMEMBERED)
                .time_to_live(answer::UNKNOWN_FOR)
                .build(),
            opened: Cache::new(REMEMBERED),
            in_flight: Arc::default(),
            written: WrittenRows::new(),
        }
    }

    /// The providers that a mock can be made of.
    #[must_use]
    pub fn providers(&self) -> Vec<MockProvider> {
        trapline_mocks::ALL.into_iter().map(present::provider).collect()
    }

    /// The team's mocks, oldest first, without their credentials and snippets.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a category or provider that is not there, and when the store does not answer.
    pub async fn list(
        &self,
        by: &Principal,
        category: Option<&str>,
        provider: Option<&str>,
    ) -> Result<Vec<ApiMock>> {
        let categories = category.map(fields::categories).transpose()?;
        if let Some(id) = provider {
            fields::provider(id)?;
        }
        let now = self.clock.now();
        let mut mocks = self.mock_records(by.team).await?;
        mocks.retain(|mock| !is_over(mock, now));
        mocks.retain(|mock| provider.is_none_or(|id| mock.provider == id));
        let projects = self.projects_of(by.team, &mocks).await?;
        let is_wanted =
            |found: MockCategory| categories.as_ref().is_none_or(|of| of.contains(&found));
        let shown = mocks.into_iter().filter_map(|mock| {
            let provider = trapline_mocks::find(&mock.provider)?;
            is_wanted(provider.category).then(|| self.listed(mock, provider, &projects))
        });
        shown.collect()
    }

    /// One mock, with credentials and snippets.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock, [`Error::WrongMasterKey`] when its credentials do not
    /// open, and when the store does not answer.
    pub async fn get(&self, by: &Principal, id: MockId) -> Result<ApiMock> {
        let (mock, _) = self.mock(by.team, id).await?;
        self.shown(mock).await
    }

    /// Makes a mock with an address and credentials of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a provider or project that is not there, for an address that cannot or must not be
    /// called, and for more than 10,000 mocks of a team; [`Error::StorageFull`] when there is no room; and when
    /// the store does not answer.
    pub async fn create(&self, by: &Principal, new: NewMock) -> Result<ApiMock> {
        let provider = fields::provider(&new.provider)?;
        self.check_webhook_url(new.webhook_url.as_deref())?;
        self.check_project(by.team, new.project).await?;
        self.room.check().await?;
        if self.counts.is_full(by.team, records::Mock::of_team(by.team, MAX_MOCKS)).await? {
            let message = format!("a team has at most {MAX_MOCKS} mocks");
            return Err(Error::invalid("", "too_many", message));
        }
        let (id, now) = (MockId(self.ids.next()), self.clock.now());
        let slug = random_text(SLUG_DIGITS, b"0123456789abcdef");
        let credentials = provider.new_credentials(&slug, &Chance::new(random()), now);
        let minutes = |count: u32| std::time::Duration::from_mins(count.into());
        let mock = records::Mock {
            id,
            team: by.team,
            name: new.name,
            provider: new.provider,
            slug: slug.clone(),
            webhook_url: new.webhook_url,
            handshake: Vec::new(),
            project: new.project,
            settings: Value::Object(serde_json::Map::new()),
            revision: 1,
            settings_at: now,
            credentials: self.sealed(id, &credentials)?,
            epoch: 1,
            expires_at: new.expires_in_minutes.map(|count| now.after(minutes(count))),
            created_at: now,
        };
        self.plan_end(&mock).await?;
        // The address first: a mock without one could not be called.
        let claim = MockBySlug { slug, team: by.team, mock: id };
        self.store.write(vec![Op::put(&claim, None, When::Absent)?]).await?;
        let (action, target) = (AuditAction::MockCreated, Target::mock(&mock));
        self.audit.put(by, action, target, &mock, When::Absent).await?;
        self.begin_handshake(&mock).await?;
        self.shown(mock).await
    }

    /// Changes a mock; the next call meets the change, on any process.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock, [`Error::Invalid`] for settings that cannot be, an
    /// address that must not be called, or a project that is not there; [`Error::Conflict`] when others changed
    /// it at the same moment again and again; and when the store does not answer.
    pub async fn update(&self, by: &Principal, id: MockId, change: MockChange) -> Result<ApiMock> {
        self.check_webhook_url(change.webhook_url.as_ref().and_then(Option::as_deref))?;
        self.check_project(by.team, change.project.flatten()).await?;
        let (now, sets_url) = (self.clock.now(), change.webhook_url.is_some());
        let edit = move |mock: &mut records::Mock, provider: &'static Provider| {
            let change = change.clone();
            if sets_url {
                mock.handshake.clear();
            }
            mock.name = change.name.unwrap_or_else(|| mock.name.clone());
            mock.webhook_url = change.webhook_url.unwrap_or_else(|| mock.webhook_url.clone());
            mock.project = change.project.unwrap_or(mock.project);
            if let Some(patch) = change.settings {
                merge(&mut mock.settings, &patch);
                MockSettings::of(provider, &mock.settings).map_err(fields::settings)?;
                mock.revision += 1;
                mock.settings_at = now;
            }
            Ok(())
        };
        let mock = self.edit(by, id, AuditAction::MockUpdated, edit).await?;
        if sets_url {
            self.begin_handshake(&mock).await?;
        }
        self.shown(mock).await
    }

    /// Replaces a credential, or `all`. The old value holds for no call that comes later.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock, [`Error::Invalid`] for a credential that its provider
    /// does not have, [`Error::Conflict`] when others changed it at the same moment again and again, and when the
    /// store does not answer.
    pub async fn rotate(&self, by: &Principal, id: MockId, credential: &str) -> Result<ApiMock> {
        let now = self.clock.now();
        let edit = |mock: &mut records::Mock, provider: &'static Provider| {
            let mut new = provider.new_credentials(&mock.slug, &Chance::new(random()), now);
            if credential != "all" {
                let name = fields::credential(provider, credential)?;
                new.retain(|known, _| known == name);
            }
            let new = provider.replaced(&self.opened(mock)?, new, now);
            mock.credentials.extend(self.sealed(id, &new)?);
            Ok(())
        };
        let mock = self.edit(by, id, AuditAction::MockCredentialsRotated, edit).await?;
        self.shown(mock).await
    }

    /// Clears calls, deliveries, objects and all else that the mock keeps; settings and credentials stay.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock, [`Error::Conflict`] when others changed it at the same
    /// moment again and again, and when the store does not answer.
    pub async fn clear(&self, by: &Principal, id: MockId) -> Result<()> {
        let mut before = 0;
        let edit = |mock: &mut records::Mock, _: &'static Provider| {
            before = mock.epoch;
            mock.epoch += 1;
            Ok(())
        };
        self.edit(by, id, AuditAction::MockCleared, edit).await?;
        self.remove_later(id, before).await
    }

    /// Removes a mock with all that it keeps.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock, [`Error::Conflict`] when somebody changed it at the same
    /// moment, and when the store does not answer.
    pub async fn delete(&self, by: &Principal, id: MockId) -> Result<()> {
        let (mock, version) = self.mock(by.team, id).await?;
        let entry = self.audit.entry(by, AuditAction::MockDeleted, Target::mock(&mock)).await;
        let delete = Op::Delete { key: mock.key(), when: When::Version(version) };
        self.audit.write(&entry, vec![delete]).await?;
        self.remove_slug(&mock.slug).await?;
        self.remove_later(id, mock.epoch).await
    }

    async fn mock_records(&self, team: TeamId) -> Result<Vec<records::Mock>> {
        Ok(load_all(&*self.store, records::Mock::of_team(team, MAX_MOCKS)).await?)
    }
}

/// Whether a mock's time is over.
fn is_over(mock: &records::Mock, now: Time) -> bool {
    mock.expires_at.is_some_and(|end| end <= now)
}
