//! What a team's audit log tells.

use serde::{Deserialize, Serialize};

use crate::{AuditEntryId, Time};

/// One change of what is a team's, by whoever made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditEntry {
    /// The entry's id.
    pub id: AuditEntryId,
    /// When it was made.
    pub at: Time,
    /// Who made the change.
    pub actor: AuditActor,
    /// What was done: the kind of thing and a verb. There may be more of them in later releases.
    #[schema(example = "inbox.created")]
    pub action: String,
    /// What it was done to.
    pub target: AuditTarget,
    /// The client's network address, of IPv6 the network; null where there was no client.
    #[schema(example = "192.0.2.7")]
    pub address: Option<String>,
}

/// Who made a change, as they were then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditActor {
    /// A person, an API key, or the service itself.
    #[serde(rename = "type")]
    pub kind: ActorKind,
    /// The person's or the key's id; null for the service itself.
    pub id: Option<String>,
    /// The name at that time, empty where it is not known.
    #[schema(example = "CI")]
    pub name: String,
}

/// Kind of an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActorKind {
    /// Somebody who was signed in.
    #[serde(rename = "user")]
    Person,
    /// A program with an API key.
    Key,
    /// The service itself, or its operator.
    System,
}

/// What a change was made to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditTarget {
    /// Kind of thing.
    #[serde(rename = "type")]
    #[schema(example = "inbox")]
    pub kind: String,
    /// Its id; it may be gone by now.
    pub id: String,
    /// What it was called then, at most 200 characters.
    #[schema(example = "Sign-up tests")]
    pub name: String,
}
