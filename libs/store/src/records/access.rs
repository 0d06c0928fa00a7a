//! Teams and their API keys.

use serde::{Deserialize, Serialize};
use trapline_model::{Access, ApiKeyId, InboxId, KeyMaker, TeamId, Time};

use super::{of_team, single, team_scan, text, uuid};
use crate::{Key, Order, Record, RowOwner, Scan, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] =
    &[TEAM, API_KEY, API_KEY_BY_HASH, API_KEY_USE, FIRST_RUN, SHARED_SECRET];

const TEAM: &Table = &Table {
    name: "team",
    partition: &[uuid("team_id")],
    writes: Writes::Guarded,
    about: "A team, its name and its plan.",
    ..Table::PLAIN
};

const API_KEY: &Table = &Table {
    name: "api_key",
    partition: &[uuid("team_id")],
    sort: &[uuid("key_id")],
    order: Order::NewestFirst,
    owner: RowOwner::Team,
    about: "An API key as it is listed. Only its SHA-256 is kept.",
    ..Table::PLAIN
};

const API_KEY_BY_HASH: &Table = &Table {
    name: "api_key_by_hash",
    partition: &[text("sha256")],
    about: "Which team and access a key has that a request carries.",
    ..Table::PLAIN
};

const API_KEY_USE: &Table = &Table {
    name: "api_key_use",
    partition: &[uuid("team_id")],
    sort: &[uuid("key_id")],
    owner: RowOwner::Team,
    about: "When a key was last used, to the minute.",
    ..Table::PLAIN
};

const FIRST_RUN: &Table = &Table {
    name: "first_run",
    partition: &[text("name")],
    writes: Writes::Guarded,
    about: "Which team and inbox the first start made.",
    ..Table::PLAIN
};

const SHARED_SECRET: &Table = &Table {
    name: "shared_secret",
    partition: &[text("name")],
    writes: Writes::Guarded,
    about: "Sealed secrets that all processes have.",
    ..Table::PLAIN
};

/// A team.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Team {
    /// The team's id.
    pub id: TeamId,
    /// The name that people gave it, of at most 100 characters.
    pub name: String,
    /// The time of creation.
    pub created_at: Time,
    /// The id of the plan that bounds what the team uses. Teams of releases without plans are on the
    /// one without limits.
    #[serde(default = "unlimited")]
    pub plan: String,
    /// When its owner deleted it. From then on it is there for nobody, and what it has is being removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Time>,
}

fn unlimited() -> String {
    Team::UNLIMITED.to_owned()
}

impl Team {
    /// The id of the built-in plan without limits.
    pub const UNLIMITED: &str = "unlimited";

    /// The team's row.
    #[must_use]
    pub fn row(id: TeamId) -> Key {
        single(TEAM, Value::Uuid(id.0))
    }
}

impl Record for Team {
    const TABLE: &'static Table = TEAM;
    fn key(&self) -> Key {
        Self::row(self.id)
    }
}

/// An API key as its team lists it; the value itself is kept nowhere.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApiKey {
    /// The key's id.
    pub id: ApiKeyId,
    /// The team it acts for.
    pub team: TeamId,
    /// The name that people gave it, of at most 100 characters.
    pub name: String,
    /// The value's first letters, to tell keys apart.
    pub prefix: String,
    /// The value's SHA-256 in hex.
    pub sha256: String,
    /// What requests with the key may do.
    pub access: Access,
    /// From when on the key is refused; `None` is never.
    pub expires_at: Option<Time>,
    /// The time of creation.
    pub created_at: Time,
    /// What made it; `None` in rows of releases that did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<KeyOrigin>,
    /// The person who made it; `None` where nobody did who was signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<KeyMaker>,
}

/// What made an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOrigin {
    /// The first start of the installation.
    FirstRun,
    /// The setting that names a key. The next one that it names replaces it.
    Setting,
    /// An operator's command.
    Command,
    /// A person who was signed in.
    Person,
}

impl ApiKey {
    /// The key's row.
    #[must_use]
    pub fn row(team: TeamId, id: ApiKeyId) -> Key {
        of_team(API_KEY, team, id.0)
    }

    /// The team's keys, newest first, at most `limit`.
    #[must_use]
    pub fn of_team(team: TeamId, limit: usize) -> Scan {
        team_scan(API_KEY, team, limit)
    }
}

impl Record for ApiKey {
    const TABLE: &'static Table = API_KEY;
    fn key(&self) -> Key {
        Self::row(self.team, self.id)
    }
}

/// Finds a key by what a request carries.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApiKeyByHash {
    /// SHA-256 of the key's value, in hex.
    pub sha256: String,
    /// The team it acts for.
    pub team: TeamId,
    /// The key's id.
    pub id: ApiKeyId,
    /// What requests with the key may do.
    pub access: Access,
    /// From when on the key is refused; `None` is never.
    pub expires_at: Option<Time>,
}

impl ApiKeyByHash {
    /// The row of a hash in hex.
    #[must_use]
    pub fn row(sha256: &str) -> Key {
        single(API_KEY_BY_HASH, Value::Text(sha256.to_owned()))
    }
}

impl Record for ApiKeyByHash {
    const TABLE: &'static Table = API_KEY_BY_HASH;
    fn key(&self) -> Key {
        Self::row(&self.sha256)
    }
}

/// When a key was last used; apart from the key, because it is written often.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApiKeyUse {
    /// The key's team.
    pub team: TeamId,
    /// The key's id.
    pub id: ApiKeyId,
    /// The time of the last use, to the minute.
    pub last_used_at: Time,
}

impl ApiKeyUse {
    /// The row of a key.
    #[must_use]
    pub fn row(team: TeamId, id: ApiKeyId) -> Key {
        of_team(API_KEY_USE, team, id.0)
    }

    /// When the team's keys were last used, at most `limit` of them.
    #[must_use]
    pub fn of_team(team: TeamId, limit: usize) -> Scan {
        team_scan(API_KEY_USE, team, limit)
    }
}

impl Record for ApiKeyUse {
    const TABLE: &'static Table = API_KEY_USE;
    fn key(&self) -> Key {
        Self::row(self.team, self.id)
    }
}

/// What the first start of an installation made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FirstRun {
    /// The first team.
    pub team: TeamId,
    /// The inbox that mail to unknown addresses lands in.
    pub inbox: InboxId,
    /// The name that inbox was found or made by; it may have been renamed since.
    #[serde(default = "catch_all")]
    pub catch_all: String,
    /// Whether nobody may have been shown the first key and the owner's link yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_untold: bool,
}

fn catch_all() -> String {
    "Default".to_owned()
}

impl FirstRun {
    /// The row, of which there is one.
    #[must_use]
    pub fn row() -> Key {
        single(FIRST_RUN, Value::Text("first_run".to_owned()))
    }
}

impl Record for FirstRun {
    const TABLE: &'static Table = FIRST_RUN;
    fn key(&self) -> Key {
        Self::row()
    }
}

/// A secret that all processes share.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SharedSecret {
    /// The name that the secret is kept under.
    pub name: String,
    /// Sealed with the installation's master key.
    pub sealed: String,
}

impl SharedSecret {
    /// The row of a name.
    #[must_use]
    pub fn row(name: &str) -> Key {
        single(SHARED_SECRET, Value::Text(name.to_owned()))
    }
}

impl Record for SharedSecret {
    const TABLE: &'static Table = SHARED_SECRET;
    fn key(&self) -> Key {
        Self::row(&self.name)
    }
}
