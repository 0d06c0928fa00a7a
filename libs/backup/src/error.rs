//! What can go wrong with an archive.

use std::io;

use trapline_store::PortError;

/// Why an archive was not written, or not read.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Its file or object cannot be read.
    #[error("the archive cannot be read")]
    Read(#[source] io::Error),
    /// Its file or object cannot be written.
    #[error("the archive cannot be written")]
    Write(#[source] io::Error),
    /// Its end is missing.
    #[error("the archive is cut off: it ends at byte {at}, in {place}")]
    CutOff {
        /// The entry that is not whole.
        place: String,
        /// Bytes from the archive's start.
        at: u64,
    },
    /// It holds something else than was written.
    #[error("the archive is damaged: {what}, in {place} at byte {at}")]
    Damaged {
        /// What is wrong.
        what: String,
        /// The entry in which it is.
        place: String,
        /// Where the entry begins, in bytes from the archive's start.
        at: u64,
    },
    /// It is something else.
    #[error("this is not an archive of `trapline backup`")]
    Foreign,
    /// It is of a release after this one.
    #[error(
        "the archive has format {found} of Trapline {version}, and this release reads formats up to {known}: \
         take that release, or a later one"
    )]
    Newer {
        /// Its format.
        found: u32,
        /// The release that wrote it.
        version: String,
        /// The newest format that this release reads.
        known: u32,
    },
    /// It has rows that this release does not know what to do with.
    #[error(
        "the archive has rows of the table {table}, which this release does not know: take Trapline \
         {version}, which wrote it, or a later one"
    )]
    UnknownTable {
        /// The table.
        table: String,
        /// The release that wrote the archive.
        version: String,
    },
    /// There is something where an archive was to be restored.
    #[error("the installation is not empty: it has rows in the table {0}")]
    NotEmpty(&'static str),
    /// Another backup of the installation is under way.
    #[error(
        "another backup of this installation is under way; if it was killed, its place is free two minutes \
         after that"
    )]
    Busy,
    /// The store, the queue or the bytes of messages failed.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// What archives answer.
pub(crate) type ArchiveResult<T, E = BackupError> = Result<T, E>;
