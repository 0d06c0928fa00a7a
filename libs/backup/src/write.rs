//! Writing the entries of an archive.

use bytes::Bytes;
use data_encoding::HEXLOWER;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use trapline_model::Time;

use crate::{
    ArchiveSink, BackupError, Manifest,
    error::ArchiveResult,
    manifest::MANIFEST,
    tar::{self, BLOCK},
};

/// Writes one entry after the other.
pub(crate) struct EntryWriter {
    sink: Box<dyn ArchiveSink>,
    sum: Sha256,
    bytes: u64,
    /// The time of every entry, in seconds since 1970.
    seconds: u64,
}

impl EntryWriter {
    pub(crate) fn new(sink: Box<dyn ArchiveSink>, time: Time) -> Self {
        let seconds = u64::try_from(time.millis() / 1000).unwrap_or(0);
        Self { sink, sum: Sha256::new(), bytes: 0, seconds }
    }

    pub(crate) async fn entry(&mut self, name: &str, bytes: Bytes) -> ArchiveResult<()> {
        let size = bytes.len() as u64;
        let header = tar::header(name, size, self.seconds);
        self.write(Bytes::copy_from_slice(&header)).await?;
        self.write(bytes).await?;
        self.write(Bytes::from(vec![0; tar::padding(size)])).await
    }

    pub(crate) async fn json(&mut self, name: &str, value: &impl Serialize) -> ArchiveResult<()> {
        self.entry(name, json(value)?).await
    }

    /// Writes the manifest with the sum of all that was written, and makes the archive durable.
    pub(crate) async fn finish(mut self, manifest: Manifest) -> ArchiveResult<Manifest> {
        let sha256 = HEXLOWER.encode(&self.sum.clone().finalize());
        let manifest = Manifest { bytes: self.bytes, sha256, ..manifest };
        self.json(MANIFEST, &manifest).await?;
        self.write(Bytes::from(vec![0; 2 * BLOCK])).await?;
        self.sink.finish().await.map_err(BackupError::Write)?;
        Ok(manifest)
    }

    async fn write(&mut self, bytes: Bytes) -> ArchiveResult<()> {
        self.sum.update(&bytes);
        self.bytes += bytes.len() as u64;
        self.sink.write(bytes).await.map_err(BackupError::Write)
    }
}

fn json(value: &impl Serialize) -> ArchiveResult<Bytes> {
    let text = serde_json::to_vec(value);
    let text = text.map_err(|error| BackupError::Write(error.into()))?;
    Ok(text.into())
}
