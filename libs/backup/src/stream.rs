//! Where archives go to and come from, as bytes in order.

use std::io;

use async_trait::async_trait;
use bytes::Bytes;

/// Takes an archive. What is dropped before it is finished leaves no archive behind.
#[async_trait]
pub trait ArchiveSink: Send {
    /// Takes the next bytes.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    async fn write(&mut self, bytes: Bytes) -> io::Result<()>;
    /// Makes the archive durable, and known under its name.
    ///
    /// # Errors
    ///
    /// When that fails; there is no archive then.
    async fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Gives an archive.
#[async_trait]
pub trait ArchiveSource: Send {
    /// The next bytes, at most a few megabytes; `None` at the end.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    async fn read(&mut self) -> io::Result<Option<Bytes>>;
}
