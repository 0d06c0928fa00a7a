//! Archives of an installation: one tar file, whichever mode it comes from and goes to.
//!
//! ```text
//! archive.json                 format, release, mode and time
//! keys/secret.key              unless it is left out; so is keys/smtp-ca.pem
//! rows/<table>/000001.jsonl    a line for each row, and one with the checksum of those before it
//! segments/<name>              as they are kept, with checksums of their own
//! manifest.json                rows by table, segments, and the SHA-256 of all before it
//! ```
//!
//! Archives are written and read in one go, and no more of one is in memory than an entry: a segment, or
//! rows of some 256 KiB. What is sealed in the store is sealed in the archive.

mod archive;
mod backup;
mod error;
mod folder;
mod lease;
mod manifest;
mod part;
mod read;
mod restore;
mod rows;
mod stream;
mod tar;
mod write;

#[cfg(test)]
mod tests;

pub use archive::Archive;
pub use backup::Backup;
pub use error::BackupError;
pub use folder::{FileSink, FileSource};
pub use manifest::{ArchiveHead, FORMAT, Manifest};
pub use part::Part;
pub use restore::Restore;
pub use stream::{ArchiveSink, ArchiveSource};

use trapline_model::Time;

/// Tables that are about the processes of an installation and not about what it keeps: who does which
/// work, who is alive, and how far readers of queues are.
const LEFT_OUT: [&str; 3] = ["heartbeat", "lease", "progress"];

/// The name of an archive that was begun at this time, as in `trapline-20260131T120000.000Z.tar`. Names sort
/// by time.
#[must_use]
pub fn file_name(at: Time) -> String {
    let text: String = at.to_string().chars().filter(|c| !matches!(c, '-' | ':')).collect();
    format!("{PREFIX}{text}{SUFFIX}")
}

/// When an archive of this name was begun; `None` for a name of another form.
#[must_use]
pub fn begun_at(name: &str) -> Option<Time> {
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

/// Whether a file or an object of this name is an archive by [`file_name`].
#[must_use]
pub fn is_file_name(name: &str) -> bool {
    begun_at(name).is_some()
}

/// The name of an archive of which a file of this name is the beginning.
#[must_use]
pub fn unfinished(name: &str) -> Option<&str> {
    name.strip_suffix(folder::UNFINISHED).filter(|name| is_file_name(name))
}

const PREFIX: &str = "trapline-";
const SUFFIX: &str = ".tar";
