//! How far a walk over hours got.

use serde::{Deserialize, Serialize};

use super::{single, text};
use crate::{Key, Order, Record, Storage, Table, Value, Writes};

pub(super) const PROGRESS: &Table = &Table {
    name: "progress",
    partition: &[text("name")],
    sort: &[],
    order: Order::Ascending,
    writes: Writes::Plain,
    storage: Storage::Rows,
};

/// A walk's mark, so that what is done is not read again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Progress {
    /// Which walk.
    pub name: String,
    /// Everything of the hours before this one is done.
    pub hour: i64,
}

impl Progress {
    /// The row of a walk.
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
