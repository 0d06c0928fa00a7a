//! Who may do what.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{ApiKeyId, PersonId, TeamId};

/// What an API key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Only read.
    Read,
    /// Act as a team admin for everything but people, keys and the audit log.
    Write,
}

/// Who acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A program that sent this API key.
    Key(ApiKeyId),
    /// Somebody who is signed in.
    Person(PersonId),
    /// The service itself, or its operator at a command line.
    System,
}

/// What an actor is to a team. A greater role may do all that a lesser one may.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Uses what the team has.
    Member,
    /// Also decides about the team's people, keys and settings.
    Admin,
    /// Also decides about the team itself.
    Owner,
}

/// Who asks a use case for something: made where a request is authenticated, and handed down from
/// there. It holds no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Principal {
    /// The only team whose resources exist for this request.
    pub team: TeamId,
    /// Who acts.
    pub actor: Actor,
    /// What the actor is to the team.
    pub role: Role,
    /// Whether it may change anything.
    pub access: Access,
    /// Where the request comes from, for the audit log; of IPv6 the network. `None` where there is no client.
    pub address: Option<IpAddr>,
}

impl Principal {
    /// Whoever sent an API key: a [`Role::Member`], since keys decide about no people and no keys.
    #[must_use]
    pub fn of_key(team: TeamId, key: ApiKeyId, access: Access) -> Self {
        Self { team, actor: Actor::Key(key), role: Role::Member, access, address: None }
    }

    /// A signed-in person, acting for one of their teams.
    #[must_use]
    pub fn of_person(team: TeamId, person: PersonId, role: Role) -> Self {
        Self { team, actor: Actor::Person(person), role, access: Access::Write, address: None }
    }

    /// The service itself, acting for a team.
    #[must_use]
    pub fn system(team: TeamId) -> Self {
        let (actor, role) = (Actor::System, Role::Owner);
        Self { team, actor, role, access: Access::Write, address: None }
    }

    /// The same, whose request comes from this address.
    #[must_use]
    pub fn at(self, address: Option<IpAddr>) -> Self {
        Self { address, ..self }
    }

    /// Whether it may change things, and see the team's secrets.
    #[must_use]
    pub fn may_write(&self) -> bool {
        self.access == Access::Write
    }
}

/// The letters that every API key starts with.
pub const KEY_PREFIX: &str = "tl_";
