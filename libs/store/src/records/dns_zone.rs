//! The DNS that checks of an inbox's messages are asked of.

use serde::{Deserialize, Serialize};
use trapline_model::{DnsZone, InboxId};

use super::{single, uuid};
use crate::{Key, Record, RowOwner, Table, Value};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[DNS_ZONE];

const DNS_ZONE: &Table = &Table {
    name: "dns_zone",
    partition: &[uuid("inbox_id")],
    owner: RowOwner::Inbox,
    about: "The DNS of senders that checks of an inbox's messages ask instead of name servers.",
    ..Table::PLAIN
};

/// An inbox's own DNS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxDnsZone {
    /// The inbox.
    pub inbox: InboxId,
    /// Its records, of 64 KiB at most.
    pub zone: DnsZone,
}

impl InboxDnsZone {
    /// The inbox's row.
    #[must_use]
    pub fn row(inbox: InboxId) -> Key {
        single(DNS_ZONE, Value::Uuid(inbox.0))
    }
}

impl Record for InboxDnsZone {
    const TABLE: &'static Table = DNS_ZONE;
    fn key(&self) -> Key {
        Self::row(self.inbox)
    }
}
