//! Reading the entries of an archive, from bytes that nobody vouches for.

use bytes::{Bytes, BytesMut};
use sha2::{Digest as _, Sha256};

use crate::{
    ArchiveSource, BackupError,
    error::ArchiveResult,
    tar::{self, BLOCK, EntryHeader},
};

/// The largest entry, in bytes: far more than the largest message.
const MAX_ENTRY_BYTES: u64 = 2 << 30;

/// An entry as it is in the file.
pub(crate) struct ArchiveEntry {
    pub(crate) name: String,
    pub(crate) bytes: Bytes,
    /// Where it begins, in bytes from the archive's start.
    pub(crate) at: u64,
    /// The sum of all before it.
    pub(crate) sum_before: Sha256,
}

impl ArchiveEntry {
    /// The error that says what is wrong here.
    pub(crate) fn damaged(&self, what: impl Into<String>) -> BackupError {
        BackupError::Damaged { what: what.into(), place: self.name.clone(), at: self.at }
    }
}

/// Reads one entry after the other.
pub(crate) struct EntryReader {
    source: Box<dyn ArchiveSource>,
    ahead: BytesMut,
    sum: Sha256,
    at: u64,
    /// The entry that is being read, for errors.
    place: String,
}

impl EntryReader {
    pub(crate) fn new(source: Box<dyn ArchiveSource>) -> Self {
        let place = "its beginning".to_owned();
        Self { source, ahead: BytesMut::new(), sum: Sha256::new(), at: 0, place }
    }

    /// The next entry; `None` at the mark of the end.
    pub(crate) async fn next(&mut self) -> ArchiveResult<Option<ArchiveEntry>> {
        let (at, sum_before) = (self.at, self.sum.clone());
        let block = self.take(BLOCK as u64).await?;
        let damaged =
            |what: &str, place: String| BackupError::Damaged { what: what.to_owned(), place, at };
        let header = tar::parse(&block)
            .map_err(|what| damaged(what, format!("what follows {}", self.place)))?;
        let Some(EntryHeader { name, size }) = header else { return Ok(None) };
        if size > MAX_ENTRY_BYTES {
            return Err(damaged("an entry is too large", name));
        }
        self.place.clone_from(&name);
        let bytes = self.take(size).await?;
        self.take(tar::padding(size) as u64).await?;
        Ok(Some(ArchiveEntry { name, bytes, at, sum_before }))
    }

    /// The error of an archive that ends at the mark that was just read.
    pub(crate) fn no_manifest(&self) -> BackupError {
        let (what, place) = ("there is no manifest".to_owned(), "its end".to_owned());
        BackupError::Damaged { what, place, at: self.at - BLOCK as u64 }
    }

    async fn take(&mut self, length: u64) -> ArchiveResult<Bytes> {
        let wanted = usize::try_from(length).unwrap_or(usize::MAX);
        while self.ahead.len() < wanted {
            let Some(bytes) = self.source.read().await.map_err(BackupError::Read)? else {
                let at = self.at + self.ahead.len() as u64;
                return Err(BackupError::CutOff { place: self.place.clone(), at });
            };
            self.ahead.extend_from_slice(&bytes);
        }
        let bytes = self.ahead.split_to(wanted).freeze();
        self.sum.update(&bytes);
        self.at += length;
        Ok(bytes)
    }
}
