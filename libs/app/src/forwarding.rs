//! Forwarding: caught mail on its way to people who agreed to get it.
//!
//! A team adds addresses, and their owners confirm them. An inbox forwards what arrives to some of
//! them, or somebody asks for one message to be forwarded. Each recipient has a row and a job of its
//! own: the row is the truth, and a job only a reason to look at it.

mod addresses;
mod attempt;
mod confirm;
mod history;
mod notifications;
mod record;
mod rewrite;
mod rules;
mod start;

use std::sync::Arc;

use async_trait::async_trait;
use trapline_model::{ForwardingStatus, InboxId, TeamId};
use trapline_store::{Bus, Clock, Store, records::ForwardRule};

use crate::{
    AuditLog, Inboxes, Jobs, Messages, OutboundMail, Result, Settings, ids::Ids,
    in_flight::InFlight, limits::Limits, parts::Parts, receive::ArrivalSubscriber, rows::RowReader,
    secrets::Secrets, team_cache::TeamCache,
};

pub use addresses::AddedAddress;
pub use attempt::ForwardAttempt;
pub use confirm::Confirmation;
pub(crate) use rules::RuleRows;

/// The most recipients of one message.
const MAX_RECIPIENTS: usize = 10;
/// The most inboxes of one team with settings of their own.
const MAX_RULES: usize = 1_000;

/// Rules by team, kept in memory for the receiving path.
pub(crate) type RuleCache = TeamCache<ForwardRule>;

#[async_trait]
impl ArrivalSubscriber for RuleCache {
    async fn wants(&self, team: TeamId, inbox: InboxId) -> Result<bool> {
        Ok(self.of(team).await?.iter().any(|rule| rule.wants(inbox)))
    }
}

/// Forwarding of messages to addresses whose owners agreed. It uses inboxes, messages and outbound mail.
pub struct Forwarding {
    store: Arc<dyn Store>,
    bus: Arc<dyn Bus>,
    clock: Clock,
    ids: Arc<Ids>,
    secrets: Arc<Secrets>,
    audit: Arc<AuditLog>,
    settings: Arc<Settings>,
    limits: Limits,
    jobs: Jobs,
    rows: RowReader,
    inboxes: Arc<Inboxes>,
    messages: Arc<Messages>,
    mail: Arc<OutboundMail>,
    cache: Arc<RuleCache>,
    /// Forwards that a job of this process works on.
    in_flight: Arc<InFlight>,
    /// Whether no other process forwards anything.
    is_alone: bool,
}

impl Forwarding {
    pub(crate) fn new(
        parts: &Parts,
        inboxes: Arc<Inboxes>,
        messages: Arc<Messages>,
        mail: Arc<OutboundMail>,
    ) -> Self {
        let store = parts.ports.store.clone();
        let of_team = |team| ForwardRule::of_team(team, MAX_RULES);
        Self {
            bus: parts.ports.bus.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            secrets: parts.secrets.clone(),
            audit: parts.audit.clone(),
            settings: parts.settings.clone(),
            limits: parts.limits.clone(),
            jobs: parts.jobs.clone(),
            rows: parts.rows.clone(),
            inboxes,
            messages,
            mail,
            cache: Arc::new(RuleCache::new(store.clone(), of_team)),
            in_flight: Arc::default(),
            is_alone: parts.is_alone,
            store,
        }
    }

    /// The rules in memory, which the receiving path asks and changes invalidate.
    pub(crate) fn cache(&self) -> &Arc<RuleCache> {
        &self.cache
    }

    /// Whether mail can be forwarded, and to how many addresses at once.
    #[must_use]
    pub fn status(&self) -> ForwardingStatus {
        let outbound_enabled = self.settings.outbound.is_some();
        ForwardingStatus { outbound_enabled, max_recipients: MAX_RECIPIENTS }
    }
}
