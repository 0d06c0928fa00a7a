//! What an archive says of itself, first and last.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trapline_model::Time;

/// The format that this release writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// The entry with which an archive begins.
pub(crate) const HEAD: &str = "archive.json";
/// The entry with which it ends.
pub(crate) const MANIFEST: &str = "manifest.json";

/// What is known before anything is read of the installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveHead {
    /// The archive's format.
    pub format: u32,
    /// The release that wrote it.
    pub version: String,
    /// `one process` or `cluster`.
    pub mode: String,
    /// When it was begun: what was acknowledged before is in it.
    pub started: Time,
    /// Which key its secrets are sealed with: a hash that tells nothing of the key.
    pub key_id: String,
    /// Whether that key is in it.
    pub has_key: bool,
}

/// What an archive holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// How many rows of each table.
    pub rows: BTreeMap<String, u64>,
    /// How many segments.
    pub segments: u64,
    /// How long they are together, in bytes.
    pub segment_bytes: u64,
    /// How many segments were named by rows and not there, or damaged. None, unless something was lost before.
    pub missing: u64,
    /// The length of what comes before this entry, in bytes.
    pub bytes: u64,
    /// SHA-256 of what comes before this entry, in hex.
    pub sha256: String,
}
