//! Mailboxes as header fields and envelopes name them.

use serde::{Deserialize, Serialize};

/// A mailbox (RFC 5322, section 3.4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Address {
    /// The addr-spec, decoded; `""` when the field has none.
    #[schema(example = "ada@example.com")]
    pub address: String,
    /// The display name, decoded; `""` when absent.
    #[schema(example = "Ada Lovelace")]
    pub name: String,
}
