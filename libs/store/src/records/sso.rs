//! Single sign-on: how people of a team sign in elsewhere, and whom that has shown to be who.

use serde::{Deserialize, Serialize};
use trapline_model::{PersonId, TeamId, Time};

use super::{single, text, uuid};
use crate::{Key, Record, RowOwner, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[SSO, SSO_DOMAIN, SSO_LINK];

const SSO: &Table = &Table {
    name: "sso",
    partition: &[uuid("team_id")],
    writes: Writes::Guarded,
    owner: RowOwner::Team,
    about: "A team's identity provider; the client's secret is sealed.",
    ..Table::PLAIN
};

const SSO_DOMAIN: &Table = &Table {
    name: "sso_domain",
    partition: &[text("domain")],
    writes: Writes::Guarded,
    about: "Whose a mail domain is, as an operator verified it.",
    ..Table::PLAIN
};

const SSO_LINK: &Table = &Table {
    name: "sso_link",
    partition: &[uuid("team_id")],
    sort: &[text("subject")],
    writes: Writes::Guarded,
    owner: RowOwner::Team,
    about: "Which person an account at a team's identity provider is.",
    ..Table::PLAIN
};

/// The identity provider of a team (`OpenID` Connect).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sso {
    /// The team.
    pub team: TeamId,
    /// The provider's issuer identifier, a URL.
    pub issuer: String,
    /// What the provider calls this service.
    pub client_id: String,
    /// The client's secret, sealed.
    pub client_secret: String,
    /// The mail domains whose people sign in there, in lower case, sorted.
    pub domains: Vec<String>,
    /// Whether people reach the team in no other way, but for its owner.
    pub enforced: bool,
    /// When somebody last signed in by these settings for the first time; `None` is nobody yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven_at: Option<Time>,
    /// When the settings were last changed.
    pub updated_at: Time,
}

impl Sso {
    /// The team's row.
    #[must_use]
    pub fn row(team: TeamId) -> Key {
        single(SSO, Value::Uuid(team.0))
    }
}

impl Record for Sso {
    const TABLE: &'static Table = SSO;
    fn key(&self) -> Key {
        Self::row(self.team)
    }
}

/// A mail domain that was shown to be a team's. No two teams have the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SsoDomain {
    /// The domain, in lower case.
    pub domain: String,
    /// Whose it is.
    pub team: TeamId,
    /// Since when.
    pub verified_at: Time,
}

impl SsoDomain {
    /// The row of a domain in lower case.
    #[must_use]
    pub fn row(domain: &str) -> Key {
        single(SSO_DOMAIN, Value::Text(domain.to_owned()))
    }
}

impl Record for SsoDomain {
    const TABLE: &'static Table = SSO_DOMAIN;
    fn key(&self) -> Key {
        Self::row(&self.domain)
    }
}

/// An account at a team's provider, and whose it is. It is written once its person is in the team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SsoLink {
    /// The team whose provider it is.
    pub team: TeamId,
    /// SHA-256 in hex of issuer and subject, which name the account together (`OpenID` Connect Core, section
    /// 5.7).
    pub subject: String,
    /// Whose account it is.
    pub person: PersonId,
    /// Since when.
    pub linked_at: Time,
}

impl SsoLink {
    /// The row of an account.
    #[must_use]
    pub fn row(team: TeamId, subject: &str) -> Key {
        let (partition, sort) = (vec![Value::Uuid(team.0)], vec![Value::Text(subject.to_owned())]);
        Key { table: SSO_LINK, partition, sort }
    }
}

impl Record for SsoLink {
    const TABLE: &'static Table = SSO_LINK;
    fn key(&self) -> Key {
        Self::row(self.team, &self.subject)
    }
}
