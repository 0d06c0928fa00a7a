//! Rules: the automatic forwarding of each inbox.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trapline_model::{self as model, InboxForwarding, InboxId, Principal, TeamId};
use trapline_store::{LiveEvent, Op, Store, When, load, load_all, records::ForwardRule};

use super::{Forwarding, MAX_RULES};
use crate::{
    AuditAction, Error, Result,
    announce::{BROADCAST, announce},
    audit::Target,
    inboxes::InboxDependent,
};

/// Inboxes that are read at the same time for a list of rules.
const MAX_CONCURRENT_READS: usize = 16;

/// The rules' rows, of which an inbox that is gone has none.
pub(crate) struct RuleRows(Arc<dyn Store>);

impl RuleRows {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

#[async_trait]
impl InboxDependent for RuleRows {
    async fn inbox_removed(&self, team: TeamId, inbox: InboxId) -> Result<()> {
        let key = ForwardRule::row(team, inbox);
        // Few inboxes have one, and a delete would leave a tombstone among the team's rules all the same.
        if self.0.get(&key).await?.is_none() {
            return Ok(());
        }
        Ok(self.0.write(vec![Op::Delete { key, when: When::Always }]).await?)
    }
}

impl Forwarding {
    /// An inbox's automatic forwarding.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox, and when the store does not answer.
    pub async fn rule(&self, by: &Principal, inbox: InboxId) -> Result<model::Forwarding> {
        let team = by.team;
        self.inboxes.record(team, inbox).await?;
        let row = ForwardRule::row(team, inbox);
        let rule = load::<ForwardRule>(&*self.store, &row).await?;
        Ok(rule.map(|(rule, _)| present(rule)).unwrap_or_default())
    }

    /// The inboxes for which forwarding was set, the oldest first; at most [`MAX_RULES`].
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn rules(&self, by: &Principal) -> Result<Vec<InboxForwarding>> {
        let scan = ForwardRule::of_team(by.team, MAX_RULES);
        let rules = load_all::<ForwardRule>(&*self.store, scan).await?.into_iter();
        let named = rules.map(|rule| self.named(rule));
        let named: Vec<_> =
            stream::iter(named).buffered(MAX_CONCURRENT_READS).try_collect().await?;
        Ok(named.into_iter().flatten().collect())
    }

    /// A rule with its inbox's name; none where the inbox is gone, whose rule goes later.
    async fn named(&self, rule: ForwardRule) -> Result<Option<InboxForwarding>> {
        match self.inboxes.record(rule.team, rule.inbox).await {
            Ok(inbox) => Ok(Some(InboxForwarding {
                inbox_id: inbox.id,
                inbox_name: inbox.name,
                enabled: rule.enabled,
                to: rule.to,
                matching: rule.matching,
            })),
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces an inbox's automatic forwarding. Every recipient must be confirmed.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox; [`Error::OutboundDisabled`] for a rule that
    /// is to be enabled without a relay; [`Error::Invalid`] for recipients that are not confirmed, none
    /// at all, or too many rules; and when the store does not answer.
    pub async fn set_rule(
        &self,
        by: &Principal,
        inbox: InboxId,
        new: model::Forwarding,
    ) -> Result<model::Forwarding> {
        let team = by.team;
        let target = Target::inbox(&self.inboxes.record(team, inbox).await?);
        if new.enabled {
            self.mail.identity()?;
        }
        let to = self.verified(team, &new.to).await?;
        if new.enabled && to.is_empty() {
            return Err(Error::invalid("to", "required", "must name an address to be enabled"));
        }
        self.check_rule_limit(team, inbox).await?;
        let rule = ForwardRule { team, inbox, enabled: new.enabled, to, matching: new.matching };
        self.audit.put(by, AuditAction::ForwardingUpdated, target, &rule, When::Always).await?;
        self.rules_changed(team).await;
        Ok(present(rule))
    }

    /// Writes rules that were there, for as long as their inboxes are.
    pub(super) async fn write_rules(&self, rules: Vec<ForwardRule>) -> Result<()> {
        for rule in rules {
            match self.inboxes.record(rule.team, rule.inbox).await {
                Ok(_) => {}
                Err(Error::NotFound) => continue,
                Err(error) => return Err(error),
            }
            let put = Op::put(&rule, None, When::Always)?;
            self.store.write(vec![put]).await?;
        }
        Ok(())
    }

    /// Invalidates the team's rules in the cache of this and every other process.
    pub(super) async fn rules_changed(&self, team: TeamId) {
        self.cache.forget(team);
        announce(&*self.bus, BROADCAST, LiveEvent::HooksChanged { team }).await;
    }

    /// Checks that the team has room for one more rule: the receiving path reads all of them at once.
    async fn check_rule_limit(&self, team: TeamId, inbox: InboxId) -> Result<()> {
        let scan = ForwardRule::of_team(team, MAX_RULES);
        let rules = load_all::<ForwardRule>(&*self.store, scan).await?;
        if rules.len() >= MAX_RULES && rules.iter().all(|rule| rule.inbox != inbox) {
            let message = format!("at most {MAX_RULES} inboxes of a team can have forwarding set");
            return Err(Error::invalid("", "too_many", message));
        }
        Ok(())
    }
}

fn present(rule: ForwardRule) -> model::Forwarding {
    model::Forwarding { enabled: rule.enabled, to: rule.to, matching: rule.matching }
}
