//! Forwarding: to whom caught mail is sent on, and which.

use serde::{Deserialize, Serialize};

use crate::{ForwardAddressId, ForwardId, InboxId, MessageId, Time};

/// An address that mail may be forwarded to once its owner has agreed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForwardAddress {
    /// The address's id.
    pub id: ForwardAddressId,
    /// The address itself, its domain in lower case.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// When its owner confirmed it; null before.
    #[schema(required)]
    pub verified_at: Option<Time>,
    /// When it was added.
    pub created_at: Time,
}

/// Which mail is forwarded. Each part is compared decoded and without regard to case; all that are
/// given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ForwardMatch {
    /// The sender contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_length = 200, example = "billing@")]
    pub from: Option<String>,
    /// A recipient, of the header or the envelope, contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_length = 200)]
    pub to: Option<String>,
    /// The subject contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_length = 200)]
    pub subject: Option<String>,
}

/// What an inbox does with mail that arrives, beside keeping it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Forwarding)]
pub struct Forwarding {
    /// Whether mail is forwarded as it arrives.
    pub enabled: bool,
    /// The addresses that it is forwarded to.
    #[schema(example = json!(["ada@example.com"]))]
    pub to: Vec<String>,
    /// Only such mail is forwarded; all of it when null.
    #[serde(rename = "match")]
    #[schema(required)]
    pub matching: Option<ForwardMatch>,
}

/// An inbox for which forwarding was set, enabled or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxForwarding {
    /// The inbox.
    pub inbox_id: InboxId,
    /// Its name.
    #[schema(example = "Sign-up tests")]
    pub inbox_name: String,
    /// Whether mail is forwarded as it arrives.
    pub enabled: bool,
    /// The addresses that it is forwarded to.
    #[schema(example = json!(["ada@example.com"]))]
    pub to: Vec<String>,
    /// Only such mail is forwarded; all of it when null.
    #[serde(rename = "match")]
    #[schema(required)]
    pub matching: Option<ForwardMatch>,
}

/// Whether this server can forward at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForwardingStatus {
    /// Whether the server can send mail: it has a relay.
    pub outbound_enabled: bool,
    /// The most recipients of one forwarded message.
    #[schema(example = 10)]
    pub max_recipients: usize,
}

/// A message on its way to one recipient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Forward {
    /// Its id.
    pub id: ForwardId,
    /// The message.
    pub message_id: MessageId,
    /// The recipient.
    #[schema(example = "ada@example.com")]
    pub to: String,
    /// Where it stands.
    pub status: ForwardStatus,
    /// Why the last attempt failed, a stable word; null when it did not.
    #[schema(required, example = json!(null))]
    pub error: Option<String>,
}

/// Where a forward stands. The last two are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ForwardStatus {
    /// No attempt has ended yet.
    Pending,
    /// An attempt failed, and another follows.
    Retrying,
    /// The relay took it.
    Sent,
    /// No attempt follows.
    Failed,
}

impl ForwardStatus {
    /// Whether nothing changes any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Sent | Self::Failed)
    }
}
