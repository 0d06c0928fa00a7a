//! Queues of earlier releases, by the hour: only read, to move what is left in them.

use super::{int, text};
use crate::Table;

/// What became [`super::MaintenanceTask`].
pub const CHORES: &Table = &Table {
    name: "chore",
    partition: &[int("hour"), int("shard")],
    sort: &[int("due_ms"), text("subject")],
    ..Table::PLAIN
};

/// What became [`super::Outbox`].
pub const HOURLY_OUTBOX: &Table = &Table {
    name: "outbox",
    partition: &[int("hour"), int("shard")],
    sort: &[int("due_ms"), text("job")],
    ..Table::PLAIN
};
