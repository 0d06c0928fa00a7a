//! Forwarding: caught mail on its way to people who agreed to get it.
//!
//! A team adds addresses, and their owners confirm them. An inbox forwards what arrives to some of
//! them, or somebody asks for one message to be forwarded. Each recipient has a row and a job of its
//! own: the row is the truth, and a job only a reason to look at it.

mod addresses;
mod attempt;
mod confirm;
mod letters;
mod record;
mod rewrite;
mod rules;
mod start;
mod trail;

use std::sync::Arc;

use async_trait::async_trait;
use trapline_model::{ForwardingStatus, InboxId, TeamId};
use trapline_store::{Ports, records::ForwardRule};

use crate::{App, Result, in_flight::InFlight, receive::ArrivalSubscriber, team_cache::TeamCache};

pub use addresses::Added;
pub use attempt::ForwardAttempt;
pub use confirm::Confirmation;
pub(crate) use rules::RuleRows;

/// The most recipients of one message.
const MAX_RECIPIENTS: usize = 10;
/// The most inboxes of one team with settings of their own.
const MAX_RULES: usize = 1_000;

/// A team's rules, as the receiving path knows them.
pub(crate) type Rules = TeamCache<ForwardRule>;

#[async_trait]
impl ArrivalSubscriber for Rules {
    async fn wants(&self, team: TeamId, inbox: InboxId) -> Result<bool> {
        Ok(self.of(team).await?.iter().any(|rule| rule.wants(inbox)))
    }
}

/// What the use cases of forwarding share.
pub(crate) struct Shared {
    pub(crate) rules: Arc<Rules>,
    claims: Arc<InFlight>,
}

impl Shared {
    pub(crate) fn new(ports: &Ports) -> Self {
        let rules = Rules::new(ports.store.clone(), |team| ForwardRule::of_team(team, MAX_RULES));
        Self { rules: Arc::new(rules), claims: Arc::default() }
    }
}

impl App {
    /// Whether mail can be forwarded, and to how many at once.
    #[must_use]
    pub fn forwarding_status(&self) -> ForwardingStatus {
        let outbound_enabled = self.settings.outbound.is_some();
        ForwardingStatus { outbound_enabled, max_recipients: MAX_RECIPIENTS }
    }
}
