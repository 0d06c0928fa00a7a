//! What mock identity providers were asked to do wrong.

use serde::{Deserialize, Serialize};
use trapline_model::{IdpFaultId, IdpId, IdpUserId, Time};

use super::uuid;
use crate::{Key, Record, RowOwner, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[IDP_FAULT];

const IDP_FAULT: &Table = &Table {
    name: "idp_fault",
    partition: &[uuid("idp_id")],
    writes: Writes::Guarded,
    owner: RowOwner::Idp,
    about: "What a mock identity provider was asked to do wrong.",
    ..Table::PLAIN
};

/// A fault that waits to be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingFault {
    /// The fault's id.
    pub id: IdpFaultId,
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's value, where it has one.
    pub value: Option<i64>,
    /// How often it was to be used; `None` is until it is removed.
    pub times: Option<u32>,
    /// How often it is still to be used.
    pub remaining: Option<u32>,
    /// The only user it is for.
    pub user: Option<IdpUserId>,
    /// The only protocol it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// When it was asked for.
    pub created_at: Time,
    /// When it is forgotten.
    pub expires_at: Option<Time>,
}

/// The faults of a provider, oldest first; at most 100.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdpFaults {
    /// The provider.
    pub idp: IdpId,
    /// The faults.
    pub faults: Vec<WaitingFault>,
    /// Told apart from every other state of the row, so that whoever wrote it knows it again; empty in rows
    /// of earlier releases.
    #[serde(default)]
    pub edit: String,
}

impl IdpFaults {
    /// The row of a provider.
    #[must_use]
    pub fn row(idp: IdpId) -> Key {
        Key { table: IDP_FAULT, partition: vec![Value::Uuid(idp.0)], sort: Vec::new() }
    }
}

impl Record for IdpFaults {
    const TABLE: &'static Table = IDP_FAULT;
    fn key(&self) -> Key {
        Self::row(self.idp)
    }
}
