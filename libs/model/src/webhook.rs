//! Webhooks: where events are sent, and what became of each.

use serde::{Deserialize, Serialize};

use crate::{DeliveryId, InboxId, MessageId, Time, WebhookId};

/// An event that a webhook can be limited to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = WebhookEvent)]
pub enum Subscription {
    /// Mail arrived in a matching inbox.
    #[serde(rename = "message.received")]
    MessageReceived,
}

/// What a delivery tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = DeliveryEvent)]
pub enum EventName {
    /// Mail arrived.
    #[serde(rename = "message.received")]
    MessageReceived,
    /// Somebody asked for a test.
    #[serde(rename = "webhook.test")]
    WebhookTest,
}

impl EventName {
    /// The name as headers and payloads carry it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MessageReceived => "message.received",
            Self::WebhookTest => "webhook.test",
        }
    }
}

/// Where a delivery stands. The last two are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    /// No attempt has ended yet.
    Pending,
    /// An attempt failed, and another follows.
    Retrying,
    /// The receiver answered 2xx.
    Succeeded,
    /// No attempt follows.
    Failed,
}

impl DeliveryStatus {
    /// Whether nothing changes any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

/// Sends events to a customer's endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// The webhook's id.
    pub id: WebhookId,
    /// Where events are sent.
    #[schema(example = "https://app.example.com/hooks/mail")]
    pub url: String,
    /// The only inbox it is told of; null for every inbox of the team.
    #[schema(required)]
    pub inbox_id: Option<InboxId>,
    /// The only events it is told of; empty for all.
    pub events: Vec<Subscription>,
    /// When false, nothing is delivered.
    pub enabled: bool,
    /// The key of the signatures: all of it, with `whsec_`. Left out for those who may only read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "whsec_4Yk…")]
    pub secret: Option<String>,
    /// How the latest attempt left its delivery; null before the first.
    #[schema(required)]
    pub last_status: Option<DeliveryStatus>,
    /// Why the latest attempt failed, the same word as in its delivery; null when it did not.
    #[schema(required, example = "http_5xx")]
    pub last_error: Option<String>,
    /// When it was made.
    pub created_at: Time,
}

/// One event on its way to one webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The delivery's id, which the receiver sees as `X-Webhook-Delivery`.
    pub id: DeliveryId,
    /// The webhook.
    pub webhook_id: WebhookId,
    /// What it tells of.
    pub event: EventName,
    /// The message it tells of; null for a test.
    #[schema(required)]
    pub message_id: Option<MessageId>,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// The status of the receiver's last answer; null without one.
    #[schema(required, example = 200)]
    pub http_status: Option<u16>,
    /// Why the last attempt failed, a stable word; null when it did not.
    #[schema(required, example = json!(null))]
    pub error: Option<String>,
    /// Attempts that have ended.
    #[schema(maximum = 8)]
    pub attempts: u32,
    /// Milliseconds that the last attempt took.
    #[schema(required, example = 42)]
    pub duration_ms: Option<u64>,
    /// When the event happened, or the redelivery or the test was asked for.
    pub created_at: Time,
    /// When the next attempt is due; null when none is.
    #[schema(required)]
    pub next_attempt_at: Option<Time>,
    /// When it ended; null before.
    #[schema(required)]
    pub completed_at: Option<Time>,
    /// The delivery whose payload this one sends again; null for a first one.
    #[schema(required)]
    pub redelivery_of: Option<DeliveryId>,
}
