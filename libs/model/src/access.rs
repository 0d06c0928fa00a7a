//! Who may do what.

use serde::{Deserialize, Serialize};

use crate::{ApiKeyId, TeamId};

/// What an API key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Only read.
    Read,
    /// Act as a team admin for everything but people, keys and the audit log.
    Write,
}

/// Who acts. People are a further variant once there are people, so a `match` outside this package
/// needs an arm for what it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Actor {
    /// A program that sent this API key.
    Key(ApiKeyId),
    /// The service itself, or its operator at a command line.
    System,
}

/// What an actor is to a team. A greater role may do all that a lesser one may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
}

impl Principal {
    /// Whoever sent an API key: a [`Role::Member`], since keys decide about no people and no keys.
    #[must_use]
    pub fn of_key(team: TeamId, key: ApiKeyId, access: Access) -> Self {
        Self { team, actor: Actor::Key(key), role: Role::Member, access }
    }

    /// The service itself, acting for a team.
    #[must_use]
    pub fn system(team: TeamId) -> Self {
        Self { team, actor: Actor::System, role: Role::Owner, access: Access::Write }
    }

    /// Whether it may change things, and see the team's secrets.
    #[must_use]
    pub fn may_write(&self) -> bool {
        self.access == Access::Write
    }
}

/// The letters that every API key starts with.
pub const KEY_PREFIX: &str = "tl_";
