//! Where the living messages of a compacted segment went.

use serde::{Deserialize, Serialize};

use super::{single, text};
use crate::{BlobRef, Key, Record, Table, Value};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[ALIAS];

const ALIAS: &Table = &Table {
    name: "segment_alias",
    partition: &[text("segment")],
    about: "Where compaction moved the messages of a segment.",
    ..Table::PLAIN
};

/// One message's move: it is found by where it began and by its length, which stays the same. Messages
/// without bytes begin where others do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Where it began in the old segment.
    pub offset: u64,
    /// Where the message's bytes are now.
    pub to: BlobRef,
}

/// The moves out of one segment. Message rows are never rewritten, so that a compaction cannot
/// bring back a message that was deleted meanwhile.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SegmentAlias {
    /// The segment that was compacted.
    pub segment: String,
    /// The messages that were moved.
    pub moved: Vec<Moved>,
}

impl SegmentAlias {
    /// The row of a segment's name.
    #[must_use]
    pub fn row(segment: &str) -> Key {
        single(ALIAS, Value::Text(segment.to_owned()))
    }
}

impl Record for SegmentAlias {
    const TABLE: &'static Table = ALIAS;
    fn key(&self) -> Key {
        Self::row(&self.segment)
    }
}
