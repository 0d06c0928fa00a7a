//! The parts of an archive, each checked by itself.

use bytes::Bytes;
use trapline_store::{Table, WalkedRow, records::TABLES, segment};

use crate::{BackupError, error::ArchiveResult, read::ArchiveEntry, rows::rows_of};

/// The folders of an archive.
pub(crate) const KEYS: &str = "keys/";
pub(crate) const ROWS: &str = "rows/";
pub(crate) const SEGMENTS: &str = "segments/";

/// A part of an archive.
#[derive(Debug)]
pub enum Part {
    /// A key file of the installation.
    Key {
        /// Its name in a data folder.
        name: String,
        /// What is in it.
        text: String,
    },
    /// Rows of a table.
    Rows {
        /// The table.
        table: &'static Table,
        /// Some of its rows.
        rows: Vec<WalkedRow>,
    },
    /// The bytes of messages.
    Segment {
        /// The segment's name.
        name: String,
        /// The segment.
        bytes: Bytes,
    },
}

impl Part {
    /// Reads an entry of an archive that this release wrote.
    pub(crate) fn of(entry: &ArchiveEntry, version: &str) -> ArchiveResult<Self> {
        if let Some(name) = entry.name.strip_prefix(KEYS) {
            let text = String::from_utf8(entry.bytes.to_vec());
            let text = text.map_err(|_| entry.damaged("a key is no text"))?;
            return Ok(Self::Key { name: name.to_owned(), text });
        }
        if let Some((table, _)) = entry.name.strip_prefix(ROWS).and_then(|it| it.split_once('/')) {
            let known = TABLES.into_iter().find(|known| known.name == table);
            let table = known.ok_or_else(|| BackupError::UnknownTable {
                table: table.to_owned(),
                version: version.to_owned(),
            })?;
            let rows = rows_of(table, &entry.bytes).map_err(|what| entry.damaged(what))?;
            return Ok(Self::Rows { table, rows });
        }
        if let Some(name) = entry.name.strip_prefix(SEGMENTS) {
            let name = name.to_owned();
            check_segment(&name, &entry.bytes).map_err(|what| entry.damaged(what))?;
            return Ok(Self::Segment { name, bytes: entry.bytes.clone() });
        }
        Err(entry.damaged("an entry that no archive has"))
    }
}

/// Whether a segment has a name of segments, and every message as it was written.
pub(crate) fn check_segment(name: &str, bytes: &[u8]) -> ArchiveResult<(), String> {
    segment::class_of(name).ok_or("this is no name of a segment")?;
    let entries = segment::entries(bytes).map_err(|error| error.to_string())?;
    let is_whole = entries.iter().all(|entry| segment::verify(entry, bytes));
    is_whole.then_some(()).ok_or_else(|| "a message has another checksum".to_owned())
}
