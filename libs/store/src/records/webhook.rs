//! Webhooks, how they do, and what was delivered to them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::{
    DeliveryId, DeliveryStatus, EventName, InboxId, MessageId, Subscription, TeamId, Time,
    WebhookId,
};

use super::{Chore, int, of_team, team_scan, uuid};
use crate::{Key, Order, Record, Scan, Table, Value, Writes};

pub(super) const WEBHOOK: &Table = &Table {
    name: "webhook",
    partition: &[uuid("team_id")],
    sort: &[uuid("webhook_id")],
    order: Order::Ascending,
    writes: Writes::Guarded,
};

pub(super) const WEBHOOK_STATUS: &Table = &Table {
    name: "webhook_status",
    partition: &[uuid("team_id")],
    sort: &[uuid("webhook_id")],
    order: Order::Ascending,
    writes: Writes::Plain,
};

/// By the hour, so that no webhook's log outgrows a partition.
pub(super) const DELIVERY: &Table = &Table {
    name: "delivery",
    partition: &[uuid("webhook_id"), int("hour")],
    sort: &[uuid("delivery_id")],
    order: Order::NewestFirst,
    writes: Writes::Plain,
};

/// A webhook's settings.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Webhook {
    /// The webhook's id.
    pub id: WebhookId,
    /// The team it belongs to.
    pub team: TeamId,
    /// Where events are sent.
    pub url: String,
    /// The only inbox it is told of.
    pub inbox: Option<InboxId>,
    /// The only events it is told of; empty for all.
    pub events: Vec<Subscription>,
    /// Whether anything is delivered.
    pub enabled: bool,
    /// The signing secret, sealed.
    pub secret: String,
    /// When it was made.
    pub created_at: Time,
}

impl Webhook {
    /// The webhook's row.
    #[must_use]
    pub fn row(team: TeamId, id: WebhookId) -> Key {
        of_team(WEBHOOK, team, id.0)
    }

    /// A team's webhooks, oldest first.
    #[must_use]
    pub fn of_team(team: TeamId, limit: usize) -> Scan {
        team_scan(WEBHOOK, team, limit)
    }

    /// Whether mail to an inbox is this webhook's business.
    #[must_use]
    pub fn wants(&self, inbox: InboxId) -> bool {
        let event = self.events.is_empty() || self.events.contains(&Subscription::MessageReceived);
        self.enabled && event && self.inbox.is_none_or(|only| only == inbox)
    }
}

impl Record for Webhook {
    const TABLE: &'static Table = WEBHOOK;
    fn key(&self) -> Key {
        Self::row(self.team, self.id)
    }
}

/// How a webhook does; apart from its settings, because it is written often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookStatus {
    /// The webhook's team.
    pub team: TeamId,
    /// The webhook.
    pub id: WebhookId,
    /// How the latest attempt left its delivery.
    pub status: DeliveryStatus,
    /// Why the latest attempt failed.
    pub error: Option<String>,
    /// When the latest attempt began.
    pub at: Time,
}

impl WebhookStatus {
    /// The webhook's row.
    #[must_use]
    pub fn row(team: TeamId, id: WebhookId) -> Key {
        of_team(WEBHOOK_STATUS, team, id.0)
    }

    /// How a team's webhooks do, the oldest webhook first.
    #[must_use]
    pub fn of_team(team: TeamId, limit: usize) -> Scan {
        team_scan(WEBHOOK_STATUS, team, limit)
    }
}

impl Record for WebhookStatus {
    const TABLE: &'static Table = WEBHOOK_STATUS;
    fn key(&self) -> Key {
        Self::row(self.team, self.id)
    }
}

/// One event on its way to one webhook, with the payload as it was first sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The delivery's id.
    pub id: DeliveryId,
    /// The webhook.
    pub webhook: WebhookId,
    /// What it tells of.
    pub event: EventName,
    /// The message it tells of.
    pub message: Option<MessageId>,
    /// The body, byte for byte the same in every attempt.
    pub payload: String,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// The status of the last answer.
    pub http_status: Option<u16>,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// Attempts that have ended.
    pub attempts: u32,
    /// How long the last one took.
    pub duration_ms: Option<u64>,
    /// When the next one is due.
    pub next_attempt_at: Option<Time>,
    /// When it ended.
    pub completed_at: Option<Time>,
    /// The delivery whose payload this one sends again.
    pub redelivery_of: Option<DeliveryId>,
}

impl Delivery {
    /// How long a delivery is listed.
    pub const KEPT: Duration = Duration::from_hours(30 * 24);

    /// The delivery's row.
    #[must_use]
    pub fn row(webhook: WebhookId, id: DeliveryId) -> Key {
        let hour = Chore::hour(Time::of_uuid(id.0));
        Key {
            table: DELIVERY,
            partition: vec![Value::Uuid(webhook.0), Value::Int(hour)],
            sort: vec![Value::Uuid(id.0)],
        }
    }

    /// What happened in an hour since 1970, newest first.
    #[must_use]
    pub fn of_hour(webhook: WebhookId, hour: i64, limit: usize) -> Scan {
        Scan {
            table: DELIVERY,
            partition: vec![Value::Uuid(webhook.0), Value::Int(hour)],
            after: None,
            until: None,
            limit,
            keys_only: false,
        }
    }

    /// When the event happened.
    #[must_use]
    pub fn created_at(&self) -> Time {
        Time::of_uuid(self.id.0)
    }
}

impl Record for Delivery {
    const TABLE: &'static Table = DELIVERY;
    fn key(&self) -> Key {
        Self::row(self.webhook, self.id)
    }
}
