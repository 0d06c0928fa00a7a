//! Webhooks: made, listed, changed, removed; and, in the modules below, what is sent to them.
//!
//! A mail's group starts one `Received` job. It makes a row for each delivery, which is the truth, and a
//! job for those of each webhook, which makes their first attempts. What waits for another attempt, or
//! for its turn, is in its webhook's backlog, on which one job works.

mod attempt;
mod backlog;
mod calls;
mod deliver;
mod endpoint;
mod fan_out;
mod log;
mod pacing;
mod payload;
mod probe;
mod record;
mod redelivery;
mod retry_schedule;
mod rows;
mod run;
mod schedule;
mod sign;
mod status;
mod test_event;
mod webhook_url;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use moka::sync::Cache;
use trapline_model::{InboxId, Principal, Subscription, TeamId, Webhook, WebhookId};
use trapline_store::{
    Bus, Clock, LiveEvent, Op, Record as _, Store, When, load, load_all,
    records::{self, DeliveryBucket, WebhookStatus},
};

use crate::{
    AuditAction, AuditLog, Error, FirstSteps, Inboxes, Jobs, Result, Settings,
    announce::{BROADCAST, announce},
    audit::Target,
    heartbeats::Heartbeats,
    ids::Ids,
    in_flight::InFlight,
    leases::Leases,
    limits::Limits,
    parts::Parts,
    plans::{PlanFeature, Plans},
    receive::ArrivalSubscriber,
    rows::RowReader,
    secrets::{BASE62, Secrets, random_text},
    storage_room::StorageRoom,
    team_cache::TeamCache,
};

pub use attempt::{
    RequestSigner, WebhookFailure, WebhookOutcome, WebhookReply, WebhookRequest, WebhookSender,
};
use endpoint::Endpoints;
use pacing::Pacing;
pub(crate) use probe::probe_work;
pub(crate) use retry_schedule::{DeliveryDecision, backoff_after, decide};
use status::WebhookStatuses;

/// Webhooks by team, kept in memory for the receiving path.
pub(crate) type WebhookCache = TeamCache<records::Webhook>;

#[async_trait]
impl ArrivalSubscriber for Webhooks {
    async fn wants(&self, team: TeamId, inbox: InboxId) -> Result<bool> {
        let is_wanted = self.cache.of(team).await?.iter().any(|hook| hook.wants(inbox));
        Ok(is_wanted && self.are_in_plan(team).await?)
    }
}

/// The most webhooks of one team.
const MAX_WEBHOOKS: usize = 1_000;
const SECRET_PREFIX: &str = "whsec_";
/// 256 bits.
const SECRET_LETTERS: usize = 43;

/// Webhooks, their deliveries and the log of these. It uses inboxes.
pub struct Webhooks {
    store: Arc<dyn Store>,
    bus: Arc<dyn Bus>,
    clock: Clock,
    ids: Arc<Ids>,
    secrets: Arc<Secrets>,
    audit: Arc<AuditLog>,
    first_steps: Arc<FirstSteps>,
    settings: Arc<Settings>,
    limits: Limits,
    plans: Arc<Plans>,
    jobs: Jobs,
    leases: Leases,
    room: Arc<StorageRoom>,
    rows: RowReader,
    inboxes: Arc<Inboxes>,
    cache: Arc<WebhookCache>,
    statuses: WebhookStatuses,
    /// Deliveries that a job of this process works on.
    in_flight: Arc<InFlight>,
    endpoints: Endpoints,
    heartbeats: Arc<Heartbeats>,
    /// The name of this process in the leases of backlogs.
    holder: String,
    /// Parts of logs that have a row of their own by now.
    buckets: Cache<DeliveryBucket, ()>,
    sender: OnceLock<Arc<dyn WebhookSender>>,
    /// Whether no other process works on deliveries.
    is_alone: bool,
}

/// What a new webhook is to be.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// Where events are sent: http or https, without credentials.
    pub url: String,
    /// The only inbox it is told of.
    pub inbox: Option<InboxId>,
    /// The only events it is told of; empty for all.
    pub events: Vec<Subscription>,
    /// Whether anything is delivered.
    pub enabled: bool,
}

/// What is to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct WebhookChange {
    /// Where events are sent.
    pub url: Option<String>,
    /// The only inbox it is told of; `Some(None)` is every inbox.
    pub inbox: Option<Option<InboxId>>,
    /// The only events it is told of; empty for all.
    pub events: Option<Vec<Subscription>>,
    /// Whether anything is delivered.
    pub enabled: Option<bool>,
}

impl Webhooks {
    pub(crate) fn new(parts: &Parts, inboxes: Arc<Inboxes>) -> Self {
        let store = parts.ports.store.clone();
        let of_team = |team| records::Webhook::of_team(team, MAX_WEBHOOKS);
        Self {
            bus: parts.ports.bus.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            secrets: parts.secrets.clone(),
            audit: parts.audit.clone(),
            first_steps: parts.first_steps.clone(),
            settings: parts.settings.clone(),
            limits: parts.limits.clone(),
            plans: parts.plans.clone(),
            jobs: parts.jobs.clone(),
            leases: parts.leases.clone(),
            room: parts.room.clone(),
            rows: parts.rows.clone(),
            inboxes,
            cache: Arc::new(WebhookCache::new(store.clone(), of_team)),
            statuses: WebhookStatuses::new(store.clone()),
            in_flight: Arc::default(),
            endpoints: Endpoints::new(Pacing::of(parts.is_alone)),
            heartbeats: parts.heartbeats.clone(),
            holder: random_text(SECRET_LETTERS, BASE62),
            buckets: Cache::new(rows::BUCKET_CAPACITY),
            sender: OnceLock::new(),
            is_alone: parts.is_alone,
            store,
        }
    }

    /// The webhooks in memory, which the receiving path asks and changes invalidate.
    pub(crate) fn cache(&self) -> &Arc<WebhookCache> {
        &self.cache
    }

    /// Sets how test events are sent, and which addresses may be called; once, before requests are
    /// taken.
    pub fn set_sender(&self, sender: Arc<dyn WebhookSender>) {
        if self.sender.set(sender).is_err() {
            tracing::error!("the sender of webhooks was set twice; the first one stays");
        }
    }

    /// The team's webhooks, oldest first; without their secrets for a principal that may only read.
    ///
    /// # Errors
    ///
    /// When the store does not answer, and [`Error::WrongMasterKey`] when a secret does not open.
    pub async fn list(&self, by: &Principal) -> Result<Vec<Webhook>> {
        let team = by.team;
        let statuses = self.statuses.of_team(team).await?;
        let hooks = self.webhook_records(team).await?;
        if by.may_write() && !hooks.is_empty() {
            self.audit.record_secret_read(by, None).await?;
        }
        let of = |hook: &records::Webhook| statuses.iter().find(|status| status.id == hook.id);
        hooks.iter().map(|hook| self.present_hook(hook, of(hook), by)).collect()
    }

    /// One webhook; without its secret for a principal that may only read.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such webhook, [`Error::WrongMasterKey`] when its secret
    /// does not open, and when the store does not answer.
    pub async fn get(&self, by: &Principal, id: WebhookId) -> Result<Webhook> {
        let (hook, _) = self.versioned_hook(by.team, id).await?;
        if by.may_write() {
            self.audit.record_secret_read(by, Some(&hook)).await?;
        }
        self.with_status(&hook, by).await
    }

    /// Makes a webhook with a secret of its own.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureUnavailable`] when the plan has no webhooks; [`Error::Invalid`] for an address that
    /// cannot or must not be called, for an unknown inbox, and for more than 1,000 webhooks of a team; [`Error::StorageFull`] when there is no room; and when
    /// the store does not answer.
    pub async fn create(&self, by: &Principal, new: NewWebhook) -> Result<Webhook> {
        let team = by.team;
        self.plans.require(team, PlanFeature::Webhooks).await?;
        self.check_target(&new.url)?;
        self.room.check().await?;
        self.check_inbox(team, new.inbox).await?;
        if self.webhook_records(team).await?.len() >= MAX_WEBHOOKS {
            let message = format!("a team has at most {MAX_WEBHOOKS} webhooks");
            return Err(Error::invalid("", "too_many", message));
        }
        let id = WebhookId(self.ids.next());
        let secret = format!("{SECRET_PREFIX}{}", random_text(SECRET_LETTERS, BASE62));
        let hook = records::Webhook {
            id,
            team,
            url: new.url,
            inbox: new.inbox,
            events: new.events,
            enabled: new.enabled,
            secret: self.secrets.seal(&seal_context(id), &secret)?,
            created_at: self.clock.now(),
        };
        let (action, target) = (AuditAction::WebhookCreated, Target::webhook(&hook));
        self.audit.put(by, action, target, &hook, When::Absent).await?;
        self.hooks_changed(team).await;
        self.present_hook(&hook, None, by)
    }

    /// Changes a webhook. What waits for it goes to the new address.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such webhook, [`Error::Invalid`] for an address that
    /// cannot or must not be called and for an unknown inbox, [`Error::Conflict`] when others changed
    /// it at the same moment again and again, and when the store does not answer.
    pub async fn update(
        &self,
        by: &Principal,
        id: WebhookId,
        change: WebhookChange,
    ) -> Result<Webhook> {
        let team = by.team;
        if let Some(url) = &change.url {
            self.check_target(url)?;
        }
        self.check_inbox(team, change.inbox.flatten()).await?;
        let edit = |hook: &mut records::Webhook| {
            let WebhookChange { url, inbox, events, enabled } = change.clone();
            hook.url = url.unwrap_or_else(|| hook.url.clone());
            hook.inbox = inbox.unwrap_or(hook.inbox);
            hook.events = events.unwrap_or_else(|| hook.events.clone());
            hook.enabled = enabled.unwrap_or(hook.enabled);
            Ok(())
        };
        let (row, action) = (records::Webhook::row(team, id), AuditAction::WebhookUpdated);
        let hook = self.audit.edit(by, action, &row, Target::webhook, edit).await?;
        self.hooks_changed(team).await;
        self.with_status(&hook, by).await
    }

    /// Removes a webhook; what waits for it is not sent.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such webhook, [`Error::Conflict`] when somebody changed
    /// it at the same moment, and when the store does not answer.
    pub async fn delete(&self, by: &Principal, id: WebhookId) -> Result<()> {
        let team = by.team;
        let (hook, version) = self.versioned_hook(team, id).await?;
        let delete = Op::Delete { key: hook.key(), when: When::Version(version) };
        let status = Op::Delete { key: WebhookStatus::row(team, id), when: When::Always };
        let entry = self.audit.entry(by, AuditAction::WebhookDeleted, Target::webhook(&hook)).await;
        self.audit.write(&entry, vec![delete, status]).await?;
        self.hooks_changed(team).await;
        Ok(())
    }

    /// Makes this and every other process look again.
    async fn hooks_changed(&self, team: TeamId) {
        self.cache.forget(team);
        announce(&*self.bus, BROADCAST, LiveEvent::HooksChanged { team }).await;
    }

    async fn webhook_records(&self, team: TeamId) -> Result<Vec<records::Webhook>> {
        Ok(load_all(&*self.store, records::Webhook::of_team(team, MAX_WEBHOOKS)).await?)
    }

    async fn versioned_hook(&self, team: TeamId, id: WebhookId) -> Result<(records::Webhook, i64)> {
        let row = records::Webhook::row(team, id);
        load(&*self.store, &row).await?.ok_or(Error::NotFound)
    }

    /// Whether the team's plan includes webhooks, now; that of a deleted team includes nothing.
    async fn are_in_plan(&self, team: TeamId) -> Result<bool> {
        Ok(self.plans.is_there(team).await?
            && self.plans.of(team).await?.includes(PlanFeature::Webhooks))
    }

    /// What sends requests, where there is something.
    pub(crate) fn sender(&self) -> Result<&Arc<dyn WebhookSender>> {
        self.sender.get().ok_or(Error::Unavailable)
    }

    /// Checks an address that a customer gives.
    pub(crate) fn check_target(&self, url: &str) -> Result<()> {
        let url = webhook_url::parse(url)?;
        let Some(sender) = self.sender.get() else { return Ok(()) };
        sender.check(&url).map_err(|why| webhook_url::invalid_url("address_not_allowed", why))
    }

    async fn check_inbox(&self, team: TeamId, inbox: Option<InboxId>) -> Result<()> {
        let Some(id) = inbox else { return Ok(()) };
        self.inboxes.record(team, id).await.map(drop).map_err(|error| match error {
            Error::NotFound => {
                Error::invalid("inboxId", "unknown", "there is no inbox with this id")
            }
            error => error,
        })
    }

    async fn with_status(&self, hook: &records::Webhook, by: &Principal) -> Result<Webhook> {
        let status = self.statuses.of(hook).await?;
        self.present_hook(hook, status.as_ref(), by)
    }

    fn secret_of(&self, hook: &records::Webhook) -> Result<String> {
        self.secrets.open(&seal_context(hook.id), &hook.secret)
    }

    fn present_hook(
        &self,
        hook: &records::Webhook,
        status: Option<&WebhookStatus>,
        by: &Principal,
    ) -> Result<Webhook> {
        let secret = by.may_write().then(|| self.secret_of(hook)).transpose()?;
        Ok(Webhook {
            id: hook.id,
            url: hook.url.clone(),
            inbox_id: hook.inbox,
            events: hook.events.clone(),
            enabled: hook.enabled,
            secret,
            last_status: status.map(|status| status.status),
            last_error: status.and_then(|status| status.error.clone()),
            created_at: hook.created_at,
        })
    }
}

/// What a signing secret is sealed for.
fn seal_context(id: WebhookId) -> String {
    format!("webhook:{id}")
}
