//! The addresses that a team may forward to.

use std::time::Duration;

use trapline_model::{ForwardAddress, ForwardAddressId, Principal, TeamId};
use trapline_store::{
    Op, Rate, When, load, load_all,
    records::{self, ForwardRule},
};

use super::{Forwarding, MAX_RULES};
use crate::{AuditAction, Error, Result, audit::Target, mail::EmailAddress};

/// Addresses of one team.
const MAX_ADDRESSES: usize = 100;
/// Addresses of one team that wait to be confirmed: each got mail that its owner did not ask for.
const MAX_UNVERIFIED: usize = 20;
/// Confirmation links to one address of a team; these and the following all hold, and deleting an
/// address gives none of them back.
const LINK_RATES: [Rate; 2] = [
    Rate { burst: 1, per: Duration::from_mins(1) },
    Rate { burst: 5, per: Duration::from_hours(24) },
];
/// Confirmation links to one mailbox, whatever teams ask for them and under whatever tags.
const MAILBOX_LINK_RATES: [Rate; 2] = [
    Rate { burst: 5, per: Duration::from_hours(1) },
    Rate { burst: 10, per: Duration::from_hours(24) },
];
/// Confirmation links that one team causes.
const TEAM_LINK_RATES: [Rate; 2] = [
    Rate { burst: 30, per: Duration::from_hours(1) },
    Rate { burst: 100, per: Duration::from_hours(24) },
];

/// The outcome of adding an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddedAddress {
    /// It is new, and its owner was asked.
    New(ForwardAddress),
    /// The team had it. Its owner was asked again, unless the answer is known.
    Known(ForwardAddress),
}

impl Forwarding {
    /// The team's addresses, oldest first.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn addresses(&self, by: &Principal) -> Result<Vec<ForwardAddress>> {
        let team = by.team;
        let mut rows = self.address_rows(team).await?;
        rows.sort_by_key(|row| (row.created_at, row.id));
        Ok(rows.iter().map(present).collect())
    }

    /// Adds an address and sends its owner a link to confirm it with. One that the team has already
    /// gets another link, unless it is confirmed.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for text that is no address, for an address of this service, and for too many
    /// addresses; [`Error::OutboundDisabled`] without a relay; [`Error::TooMany`] for too many links; and
    /// when the store or the limiter does not answer.
    pub async fn add_address(&self, by: &Principal, email: &str) -> Result<AddedAddress> {
        let team = by.team;
        let mailbox = self.parse_external("email", email)?;
        self.mail.identity()?;
        let (id, store) = (ForwardAddressId(mailbox.id_in(team)), &*self.store);
        let row = records::ForwardAddress::row(team, id);
        if let Some((known, _)) = load::<records::ForwardAddress>(store, &row).await? {
            if known.verified_at.is_none() {
                self.take_link_allowances(team, id, &mailbox).await?;
                self.send_link(&known).await?;
            }
            return Ok(AddedAddress::Known(present(&known)));
        }
        self.check_address_limits(team).await?;
        self.take_link_allowances(team, id, &mailbox).await?;
        let new = records::ForwardAddress {
            id,
            team,
            email: mailbox.as_str().to_owned(),
            verified_at: None,
            created_at: self.clock.now(),
        };
        let put = Op::put(&new, None, When::Absent)?;
        let target = Target::forward_address(&new);
        let entry = self.audit.entry(by, AuditAction::ForwardAddressAdded, target).await;
        self.audit.write(&entry, vec![put]).await?;
        self.send_link(&new).await?;
        Ok(AddedAddress::New(present(&new)))
    }

    /// Removes an address. From here on nothing is forwarded to it, and no inbox names it any more.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such address, [`Error::Conflict`] when somebody changed
    /// it at the same moment, and when the store does not answer.
    pub async fn delete_address(&self, by: &Principal, id: ForwardAddressId) -> Result<()> {
        let team = by.team;
        let row = records::ForwardAddress::row(team, id);
        let found = load::<records::ForwardAddress>(&*self.store, &row).await?;
        let (address, version) = found.ok_or(Error::NotFound)?;
        // Rules first: a crash in between leaves an address that can be removed again.
        let rules = self.rules_without(team, &address.email).await?;
        let target = Target::forward_address(&address);
        self.audit.begin(by, AuditAction::ForwardAddressDeleted, target).await?;
        self.write_rules(rules).await?;
        let delete = Op::Delete { key: row, when: When::Version(version) };
        self.store.write(vec![delete]).await?;
        self.rules_changed(team).await;
        Ok(())
    }

    /// The rules that name an address, without it.
    async fn rules_without(&self, team: TeamId, email: &str) -> Result<Vec<ForwardRule>> {
        let scan = ForwardRule::of_team(team, MAX_RULES);
        let rules = load_all::<ForwardRule>(&*self.store, scan).await?;
        let naming = rules.into_iter().filter(|rule| rule.to.iter().any(|to| to == email));
        Ok(naming
            .map(|mut rule| {
                rule.to.retain(|to| to != email);
                rule.enabled &= !rule.to.is_empty();
                rule
            })
            .collect())
    }

    /// The addresses at these places of a request, as the team has them, once each. All must be
    /// confirmed.
    pub(super) async fn verified(&self, team: TeamId, to: &[String]) -> Result<Vec<String>> {
        let (mut found, mut issues) = (Vec::new(), Vec::new());
        for (place, text) in to.iter().enumerate() {
            let path = format!("to[{place}]");
            let mailbox = match EmailAddress::parse(&path, text) {
                Ok(mailbox) => mailbox,
                Err(Error::Invalid(more)) => {
                    issues.extend(more);
                    continue;
                }
                Err(error) => return Err(error),
            };
            match self.verified_address(team, &mailbox).await? {
                Some(email) if found.contains(&email) => {}
                Some(email) => found.push(email),
                None => issues.push(crate::Issue {
                    path,
                    code: "not_verified",
                    message: "must be a forwarding address that its owner confirmed".to_owned(),
                }),
            }
        }
        if issues.is_empty() { Ok(found) } else { Err(Error::Invalid(issues)) }
    }

    /// The address as the team has it, if it is confirmed.
    pub(super) async fn verified_address(
        &self,
        team: TeamId,
        mailbox: &EmailAddress,
    ) -> Result<Option<String>> {
        let row = records::ForwardAddress::row(team, ForwardAddressId(mailbox.id_in(team)));
        let found = load::<records::ForwardAddress>(&*self.store, &row).await?;
        Ok(found.filter(|(address, _)| address.verified_at.is_some()).map(|(found, _)| found.email))
    }

    /// An address that is not one of this service's inboxes, where it would only come round.
    fn parse_external(&self, path: &str, text: &str) -> Result<EmailAddress> {
        let mailbox = EmailAddress::parse(path, text)?;
        if self.mail.is_our_domain(mailbox.as_str()) {
            let message = "must not be an address of this service itself";
            return Err(Error::invalid(path, "own_address", message));
        }
        Ok(mailbox)
    }

    async fn check_address_limits(&self, team: TeamId) -> Result<()> {
        let rows = self.address_rows(team).await?;
        let unverified = rows.iter().filter(|row| row.verified_at.is_none()).count();
        let full = if rows.len() >= MAX_ADDRESSES {
            format!("a team has at most {MAX_ADDRESSES} addresses")
        } else if unverified >= MAX_UNVERIFIED {
            format!("at most {MAX_UNVERIFIED} addresses of a team may wait to be confirmed")
        } else {
            return Ok(());
        };
        Err(Error::invalid("", "too_many", full))
    }

    async fn take_link_allowances(
        &self,
        team: TeamId,
        id: ForwardAddressId,
        to: &EmailAddress,
    ) -> Result<()> {
        let team = team.to_string();
        self.limits.take_all("confirmation:address", &id.to_string(), &LINK_RATES).await?;
        self.limits.take_all("confirmation:mailbox", &to.owner(), &MAILBOX_LINK_RATES).await?;
        self.limits.take_all("confirmation:team", &team, &TEAM_LINK_RATES).await
    }

    pub(super) async fn address_rows(&self, team: TeamId) -> Result<Vec<records::ForwardAddress>> {
        let scan = records::ForwardAddress::of_team(team, 2 * MAX_ADDRESSES);
        Ok(load_all(&*self.store, scan).await?)
    }
}

fn present(row: &records::ForwardAddress) -> ForwardAddress {
    ForwardAddress {
        id: row.id,
        email: row.email.clone(),
        verified_at: row.verified_at,
        created_at: row.created_at,
    }
}
