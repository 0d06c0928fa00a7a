//! Which upgrades of stored rows are finished.

use serde::{Deserialize, Serialize};

use super::{single, text};
use crate::{Key, Record, Table, Value};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[UPGRADE];

const UPGRADE: &Table = &Table {
    name: "upgrade",
    partition: &[text("name")],
    about: "Which moves of rows of earlier releases are finished.",
    ..Table::PLAIN
};

/// The upgrades that are finished, so that a start looks at one row and no more.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Upgrade {
    /// The names of the finished steps, those of newer releases too.
    pub finished: Vec<String>,
}

impl Upgrade {
    /// The row, of which there is one.
    #[must_use]
    pub fn row() -> Key {
        single(UPGRADE, Value::Text("upgrade".to_owned()))
    }
}

impl Record for Upgrade {
    const TABLE: &'static Table = UPGRADE;
    fn key(&self) -> Key {
        Self::row()
    }
}
