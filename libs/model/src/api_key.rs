//! API keys as their team sees them.

use serde::{Deserialize, Serialize};

use crate::{Access, ApiKeyId, PersonId, Time};

/// An API key; its value is shown once, when it is made, and kept nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub struct ListedApiKey {
    /// The key's id.
    pub id: ApiKeyId,
    /// For people.
    #[schema(example = "CI")]
    pub name: String,
    /// The value's first letters, to tell keys apart.
    #[schema(example = "tl_a1b2c")]
    pub prefix: String,
    /// What requests with the key may do.
    pub access: Access,
    /// From when on the key is refused; null is never.
    pub expires_at: Option<Time>,
    /// The time of creation.
    pub created_at: Time,
    /// When it was last used, to the minute; null is never.
    pub last_used_at: Option<Time>,
    /// Who made it; null for one that an operator or the first start made.
    pub created_by: Option<KeyMaker>,
}

/// Who made an API key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyMaker {
    /// The person's id.
    pub id: PersonId,
    /// The person's name at that time.
    #[schema(example = "Ada")]
    pub name: String,
}
