//! How far the reader of a queue got.

use serde::{Deserialize, Serialize};

use super::{Position, single, text};
use crate::{Key, Record, Table, Value};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[PROGRESS];

const PROGRESS: &Table = &Table {
    name: "progress",
    partition: &[text("name")],
    about: "How far a reader of a queue got.",
    ..Table::PLAIN
};

/// A reader's mark, so that nobody reads again what was passed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Progress {
    /// Which queue, and which shard of it.
    pub name: String,
    /// Every row up to here is done, or planned anew.
    pub position: Position,
}

impl Progress {
    /// The row of a reader.
    #[must_use]
    pub fn row(name: &str) -> Key {
        single(PROGRESS, Value::Text(name.to_owned()))
    }
}

impl Record for Progress {
    const TABLE: &'static Table = PROGRESS;
    fn key(&self) -> Key {
        Self::row(&self.name)
    }
}
