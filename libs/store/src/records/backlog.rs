//! Deliveries that wait for an attempt, by webhook and in the order in which they are due.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::{DeliveryId, Time, WebhookId};

use super::{int, uuid};
use crate::{Key, Op, Record, Result, Row, RowOwner, Scan, Storage, Table, Value, When};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[WEBHOOK_BACKLOG];

const WEBHOOK_BACKLOG: &Table = &Table {
    name: "webhook_backlog",
    partition: &[uuid("webhook_id"), int("hour")],
    sort: &[int("due_ms"), uuid("delivery_id")],
    storage: Storage::Queue { bucket: Duration::from_hours(1), ttl: BacklogEntry::KEPT },
    owner: RowOwner::Webhook,
    about: "Queue: deliveries that wait for an attempt.",
    ..Table::PLAIN
};

/// A delivery's place in its webhook's backlog. While a delivery that is there has not ended, it has one
/// place at least; one that its next attempt does not name any more is removed when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BacklogEntry {
    /// The webhook.
    pub webhook: WebhookId,
    /// When the delivery is due.
    pub due: Time,
    /// The delivery.
    pub delivery: DeliveryId,
}

impl BacklogEntry {
    /// How long an entry is kept: as long as a delivery is listed.
    pub const KEPT: Duration = super::Delivery::KEPT;

    /// The hour since 1970 that a time is in.
    #[must_use]
    pub fn hour(time: Time) -> i64 {
        time.millis().div_euclid(3_600_000)
    }

    /// The last instant of an hour.
    #[must_use]
    pub fn end_of(hour: i64) -> Time {
        Time::from_millis(hour.saturating_add(1).saturating_mul(3_600_000).saturating_sub(1))
    }

    /// The entries of one hour behind the sort key `after` that are due at `until` or before, the
    /// longest due first. Keys only: see [`Self::of_key`].
    #[must_use]
    pub fn of_hour(
        webhook: WebhookId,
        hour: i64,
        after: Vec<Value>,
        until: Time,
        limit: usize,
    ) -> Scan {
        Scan {
            table: WEBHOOK_BACKLOG,
            partition: vec![Value::Uuid(webhook.0), Value::Int(hour)],
            after: Some(after),
            until: Some(vec![Value::Int(until.millis())]),
            limit,
            keys_only: true,
        }
    }

    /// The entry of a webhook's row, of which the key is enough.
    #[must_use]
    pub fn of_key(webhook: WebhookId, row: &Row) -> Option<Self> {
        let [Value::Int(due), Value::Uuid(id)] = row.sort.as_slice() else { return None };
        Some(Self { webhook, due: Time::from_millis(*due), delivery: DeliveryId(*id) })
    }

    /// The sort key of the entry's row.
    #[must_use]
    pub fn sort(&self) -> Vec<Value> {
        vec![Value::Int(self.due.millis()), Value::Uuid(self.delivery.0)]
    }

    /// The write that adds it; adding it again changes nothing.
    ///
    /// # Errors
    /// [`PortError::Corrupt`](crate::PortError::Corrupt) if it cannot be encoded.
    pub fn put(&self) -> Result<Op> {
        Op::put(self, None, When::Always)
    }

    /// The write that removes the entry.
    #[must_use]
    pub fn delete(&self) -> Op {
        Op::Delete { key: self.key(), when: When::Always }
    }
}

impl Record for BacklogEntry {
    const TABLE: &'static Table = WEBHOOK_BACKLOG;
    fn key(&self) -> Key {
        let partition = vec![Value::Uuid(self.webhook.0), Value::Int(Self::hour(self.due))];
        Key { table: WEBHOOK_BACKLOG, partition, sort: self.sort() }
    }
}
