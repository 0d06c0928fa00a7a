//! Webhooks, how they do, and what was delivered to them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::{
    DeliveryId, DeliveryStatus, EventName, InboxId, MessageId, Subscription, TeamId, Time,
    WebhookId,
};

use super::{int, of_team, team_scan, uuid};
use crate::{Key, Order, Record, Row, RowOwner, Scan, Storage, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] =
    &[WEBHOOK, WEBHOOK_STATUS, DELIVERY, DELIVERY_PAYLOAD, DELIVERY_BUCKET];

const WEBHOOK: &Table = &Table {
    name: "webhook",
    partition: &[uuid("team_id")],
    sort: &[uuid("webhook_id")],
    writes: Writes::Guarded,
    owner: RowOwner::Team,
    about: "The settings of a webhook; its secret is sealed.",
    ..Table::PLAIN
};

const WEBHOOK_STATUS: &Table = &Table {
    name: "webhook_status",
    partition: &[uuid("team_id")],
    sort: &[uuid("webhook_id")],
    owner: RowOwner::Team,
    about: "How the last call of a webhook went.",
    ..Table::PLAIN
};

/// What was delivered in ten minutes, so that no webhook's log outgrows a partition.
const DELIVERY: &Table = &Table {
    name: "delivery_state",
    partition: &[uuid("webhook_id"), int("bucket")],
    sort: &[uuid("delivery_id")],
    order: Order::NewestFirst,
    storage: Storage::Log { window: Duration::from_hours(24), ttl: Delivery::KEPT },
    owner: RowOwner::Webhook,
    about: "The log of deliveries, in partitions of ten minutes.",
    ..Table::PLAIN
};

/// Bodies, apart from what is rewritten after each attempt and listed; by the minute, because they
/// are larger.
const DELIVERY_PAYLOAD: &Table = &Table {
    name: "delivery_payload",
    partition: &[uuid("webhook_id"), int("minute")],
    sort: &[uuid("delivery_id")],
    order: Order::NewestFirst,
    storage: Storage::Log { window: Duration::from_hours(24), ttl: Delivery::KEPT },
    owner: RowOwner::Webhook,
    about: "What a delivery sends; written once.",
    ..Table::PLAIN
};

/// In which ten minutes something was delivered, so that a log with gaps is read without trying each.
const DELIVERY_BUCKET: &Table = &Table {
    name: "delivery_bucket",
    partition: &[uuid("webhook_id")],
    sort: &[int("bucket")],
    order: Order::NewestFirst,
    owner: RowOwner::Webhook,
    about: "In which ten minutes the log has entries.",
    ..Table::PLAIN
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
    /// The only inbox whose events are sent; `None` is every inbox of the team.
    pub inbox: Option<InboxId>,
    /// The only events it is told of; empty for all.
    pub events: Vec<Subscription>,
    /// Whether events are sent.
    pub enabled: bool,
    /// The signing secret, sealed.
    pub secret: String,
    /// The time of creation.
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

/// One event on its way to one webhook: where it stands. What is sent is a [`DeliveryPayload`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The delivery's id.
    pub id: DeliveryId,
    /// The webhook.
    pub webhook: WebhookId,
    /// The event that the delivery tells of.
    pub event: EventName,
    /// The message that the event is about.
    pub message: Option<MessageId>,
    /// The state of the delivery.
    pub status: DeliveryStatus,
    /// The status of the last answer.
    pub http_status: Option<u16>,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// Attempts that have ended.
    pub attempts: u32,
    /// How long the last attempt took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// When the next attempt is due; `None` once there is none.
    pub next_attempt_at: Option<Time>,
    /// The end of the delivery, for better or worse; `None` while it goes on.
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
        by_time(DELIVERY, webhook, Self::bucket(Time::of_uuid(id.0)), id)
    }

    /// The time whose deliveries are kept together.
    pub const BUCKET: Duration = Duration::from_mins(10);

    /// The bucket since 1970 that a time is in.
    #[must_use]
    pub fn bucket(time: Time) -> i64 {
        let millis = i64::try_from(Self::BUCKET.as_millis()).unwrap_or(i64::MAX);
        time.millis().div_euclid(millis)
    }

    /// What happened in one bucket, newest first.
    #[must_use]
    pub fn of_bucket(webhook: WebhookId, bucket: i64, limit: usize) -> Scan {
        of_partition(DELIVERY, vec![Value::Uuid(webhook.0), Value::Int(bucket)], limit)
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

/// What a delivery sends, byte for byte the same in every attempt. Written once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryPayload {
    /// The webhook.
    pub webhook: WebhookId,
    /// The delivery.
    pub id: DeliveryId,
    /// The body, at most 64 KiB.
    pub payload: String,
}

impl DeliveryPayload {
    /// The row of a delivery's payload.
    #[must_use]
    pub fn row(webhook: WebhookId, id: DeliveryId) -> Key {
        let minute = Time::of_uuid(id.0).millis().div_euclid(60_000);
        by_time(DELIVERY_PAYLOAD, webhook, minute, id)
    }
}

impl Record for DeliveryPayload {
    const TABLE: &'static Table = DELIVERY_PAYLOAD;
    fn key(&self) -> Key {
        Self::row(self.webhook, self.id)
    }
}

/// That a webhook has deliveries of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeliveryBucket {
    /// The webhook.
    pub webhook: WebhookId,
    /// See [`Delivery::bucket`].
    pub bucket: i64,
}

impl DeliveryBucket {
    /// The buckets of a webhook before `before`, newest first. Keys only: see [`Self::bucket_of`].
    #[must_use]
    pub fn before(webhook: WebhookId, before: i64, limit: usize) -> Scan {
        let after = Some(vec![Value::Int(before)]);
        let scan = of_partition(DELIVERY_BUCKET, vec![Value::Uuid(webhook.0)], limit);
        Scan { after, keys_only: true, ..scan }
    }

    /// The bucket that a row names, of which the key is enough.
    #[must_use]
    pub fn bucket_of(row: &Row) -> Option<i64> {
        match row.sort.as_slice() {
            [Value::Int(bucket)] => Some(*bucket),
            _ => None,
        }
    }
}

impl Record for DeliveryBucket {
    const TABLE: &'static Table = DELIVERY_BUCKET;
    fn key(&self) -> Key {
        let partition = vec![Value::Uuid(self.webhook.0)];
        Key { table: DELIVERY_BUCKET, partition, sort: vec![Value::Int(self.bucket)] }
    }
}

fn by_time(table: &'static Table, webhook: WebhookId, period: i64, id: DeliveryId) -> Key {
    let partition = vec![Value::Uuid(webhook.0), Value::Int(period)];
    Key { table, partition, sort: vec![Value::Uuid(id.0)] }
}

fn of_partition(table: &'static Table, partition: Vec<Value>, limit: usize) -> Scan {
    Scan::of(table, partition, limit)
}
