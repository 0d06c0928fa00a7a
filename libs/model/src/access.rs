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

/// Whoever a request was authenticated as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The team whose resources exist for this request.
    pub team: TeamId,
    /// The key it was sent with.
    pub key: ApiKeyId,
    /// What that key may do.
    pub access: Access,
}

/// The letters that every API key starts with.
pub const KEY_PREFIX: &str = "tl_";
