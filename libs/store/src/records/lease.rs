//! Work that one process at a time may do.

use serde::{Deserialize, Serialize};

use super::{single, text};
use crate::{Key, Record, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[LEASE];

const LEASE: &Table = &Table {
    name: "lease",
    partition: &[text("name")],
    writes: Writes::Guarded,
    about: "Which process does a shared piece of work.",
    ..Table::PLAIN
};

/// Who does a piece of work. The row's time to live is the lease's, and each renewal sets it anew.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkLease {
    /// The piece of work.
    pub name: String,
    /// The process.
    pub holder: String,
}

impl WorkLease {
    /// The backup of a cluster. While somebody has it, segments stay as they are.
    pub const BACKUP: &str = "backup";
    /// A restore. It has no end of its own: what was cut off is not whole, and must not be served.
    pub const RESTORE: &str = "restore";

    /// The row of a piece of work.
    #[must_use]
    pub fn row(name: &str) -> Key {
        single(LEASE, Value::Text(name.to_owned()))
    }
}

impl Record for WorkLease {
    const TABLE: &'static Table = LEASE;
    fn key(&self) -> Key {
        Self::row(&self.name)
    }
}
