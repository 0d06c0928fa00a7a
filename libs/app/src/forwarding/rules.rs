//! What each inbox forwards as it arrives.

use std::sync::Arc;

use async_trait::async_trait;
use trapline_model::{Forwarding, InboxId, Principal, TeamId};
use trapline_store::{
    LiveEvent, Op, PortError, Record as _, Store, When, load, records::ForwardRule,
};

use super::MAX_RULES;
use crate::{App, Error, Result, announce::BROADCAST, inboxes::InboxDependent};

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

impl App {
    /// An inbox's automatic forwarding.
    pub async fn forwarding(&self, by: &Principal, inbox: InboxId) -> Result<Forwarding> {
        let team = by.team;
        self.inbox_record(team, inbox).await?;
        let row = ForwardRule::row(team, inbox);
        let rule = load::<ForwardRule>(&*self.ports.store, &row).await?;
        Ok(rule.map(|(rule, _)| present(rule)).unwrap_or_default())
    }

    /// Replaces an inbox's automatic forwarding. Every recipient must be confirmed.
    pub async fn set_forwarding(
        &self,
        by: &Principal,
        inbox: InboxId,
        new: Forwarding,
    ) -> Result<Forwarding> {
        let team = by.team;
        self.inbox_record(team, inbox).await?;
        if new.enabled {
            self.outbound()?;
        }
        let to = self.verified(team, &new.to).await?;
        if new.enabled && to.is_empty() {
            return Err(Error::invalid("to", "required", "must name an address to be enabled"));
        }
        self.check_rules(team, inbox).await?;
        let rule = ForwardRule { team, inbox, enabled: new.enabled, to, matching: new.matching };
        let put = Op::put(&rule, None, When::Always)?;
        self.ports.store.write(vec![put]).await?;
        self.rules_changed(team).await;
        Ok(present(rule))
    }

    /// Writes rules that were there, for as long as their inboxes are.
    pub(super) async fn write_rules(&self, rules: Vec<ForwardRule>) -> Result<()> {
        for rule in rules {
            match self.inbox_record(rule.team, rule.inbox).await {
                Ok(_) => {}
                Err(Error::NotFound) => continue,
                Err(error) => return Err(error),
            }
            let put = Op::put(&rule, None, When::Always)?;
            self.ports.store.write(vec![put]).await?;
        }
        Ok(())
    }

    /// Makes this and every other process look again.
    pub(super) async fn rules_changed(&self, team: TeamId) {
        self.forwarding.rules.forget(team);
        self.announce(BROADCAST, LiveEvent::HooksChanged { team }).await;
    }

    /// The receiving path reads all of a team's rules at once.
    async fn check_rules(&self, team: TeamId, inbox: InboxId) -> Result<()> {
        let rows = self.ports.store.scan(ForwardRule::of_team(team, MAX_RULES)).await?;
        let rules = rows.iter().map(ForwardRule::of).collect::<Result<Vec<_>, PortError>>()?;
        if rules.len() >= MAX_RULES && rules.iter().all(|rule| rule.inbox != inbox) {
            let message = format!("at most {MAX_RULES} inboxes of a team can have forwarding set");
            return Err(Error::invalid("", "too_many", message));
        }
        Ok(())
    }
}

fn present(rule: ForwardRule) -> Forwarding {
    Forwarding { enabled: rule.enabled, to: rule.to, matching: rule.matching }
}
