//! The activity logs of mock identity providers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::{IdpEvent, IdpId};
use uuid::Uuid;

use super::{int, uuid};
use crate::{Key, Op, Order, Record, RowOwner, Scan, Storage, Table, Value};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[IDP_EVENT];

const IDP_EVENT: &Table = &Table {
    name: "idp_event",
    partition: &[uuid("idp_id"), int("epoch")],
    sort: &[uuid("event_id")],
    order: Order::NewestFirst,
    storage: Storage::Log { window: Duration::from_hours(24), ttl: IdpEventRecord::KEPT },
    owner: RowOwner::Idp,
    about: "The activity log of a mock identity provider.",
    ..Table::PLAIN
};

/// An entry of an activity log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IdpEventRecord {
    /// The provider.
    pub idp: IdpId,
    /// The part of the log it is in: see [`IdpRecord::epoch`](super::IdpRecord::epoch).
    pub epoch: i64,
    /// The entry as the API shows it, of at most 16 KiB.
    pub event: IdpEvent,
}

impl IdpEventRecord {
    /// How long an entry is listed.
    pub const KEPT: Duration = Duration::from_hours(7 * 24);

    /// The newest entries of a log.
    #[must_use]
    pub fn newest(idp: IdpId, epoch: i64, limit: usize) -> Scan {
        Scan::of(IDP_EVENT, partition(idp, epoch), limit)
    }

    /// Removes an entry and all that are older.
    #[must_use]
    pub fn removal_from(idp: IdpId, epoch: i64, newest: Uuid) -> Op {
        let sort = vec![Value::Uuid(newest)];
        Op::DeleteUntil { until: Key { table: IDP_EVENT, partition: partition(idp, epoch), sort } }
    }
}

impl Record for IdpEventRecord {
    const TABLE: &'static Table = IDP_EVENT;
    fn key(&self) -> Key {
        let sort = vec![Value::Uuid(self.event.id.0)];
        Key { table: IDP_EVENT, partition: partition(self.idp, self.epoch), sort }
    }
}

fn partition(idp: IdpId, epoch: i64) -> Vec<Value> {
    vec![Value::Uuid(idp.0), Value::Int(epoch)]
}
