//! Reading an archive, with everything in it checked.

use data_encoding::HEXLOWER;
use sha2::Digest as _;

use crate::{
    ArchiveHead, ArchiveSource, BackupError, FORMAT, Manifest, Part,
    error::ArchiveResult,
    manifest::{HEAD, MANIFEST},
    read::{ArchiveEntry, EntryReader},
};

/// An archive that is being read.
pub struct Archive {
    reader: EntryReader,
    head: ArchiveHead,
    /// What was found so far, and at the end what the archive says of itself, which is the same.
    found: Manifest,
    is_whole: bool,
}

impl Archive {
    /// Reads what an archive says of itself first.
    ///
    /// # Errors
    ///
    /// [`BackupError::Foreign`] for something else, [`BackupError::Newer`] for one of a later release, and what
    /// keeps it from being read.
    pub async fn open(source: Box<dyn ArchiveSource>) -> ArchiveResult<Self> {
        let mut reader = EntryReader::new(source);
        let first = match reader.next().await {
            Ok(Some(entry)) if entry.name == HEAD => entry,
            Ok(_) | Err(BackupError::Damaged { .. }) => return Err(BackupError::Foreign),
            Err(error) => return Err(error),
        };
        let head = head(&first)?;
        Ok(Self { reader, head, found: Manifest::default(), is_whole: false })
    }

    /// What the archive says of itself first.
    #[must_use]
    pub fn head(&self) -> &ArchiveHead {
        &self.head
    }

    /// What the archive holds, once [`Archive::next`] has found its end.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.is_whole.then_some(&self.found)
    }

    /// The next part, which is as it was written; `None` when all of the archive was, too.
    ///
    /// # Errors
    ///
    /// [`BackupError::CutOff`] and [`BackupError::Damaged`] with the place, [`BackupError::UnknownTable`] for rows of a
    /// later release, [`BackupError::Read`] when nothing can be read.
    pub async fn next(&mut self) -> ArchiveResult<Option<Part>> {
        if self.is_whole {
            return Ok(None);
        }
        let Some(entry) = self.reader.next().await? else {
            return Err(self.reader.no_manifest());
        };
        if entry.name == MANIFEST {
            self.end(&entry)?;
            self.is_whole = true;
            return Ok(None);
        }
        let part = Part::of(&entry, &self.head.version)?;
        match &part {
            Part::Key { .. } => {}
            Part::Rows { table, rows } => {
                *self.found.rows.entry(table.name.to_owned()).or_default() += rows.len() as u64;
            }
            Part::Segment { bytes, .. } => {
                self.found.segments += 1;
                self.found.segment_bytes += bytes.len() as u64;
            }
        }
        Ok(Some(part))
    }

    /// Reads all that is left.
    ///
    /// # Errors
    ///
    /// Those of [`Archive::next`].
    pub async fn verify(mut self) -> ArchiveResult<Manifest> {
        while self.next().await?.is_some() {}
        Ok(self.found)
    }

    fn end(&mut self, entry: &ArchiveEntry) -> ArchiveResult<()> {
        let written: Manifest = serde_json::from_slice(&entry.bytes)
            .map_err(|error| entry.damaged(error.to_string()))?;
        let found = Manifest {
            missing: written.missing,
            bytes: entry.at,
            sha256: HEXLOWER.encode(&entry.sum_before.clone().finalize()),
            ..std::mem::take(&mut self.found)
        };
        if found.rows != written.rows || found.segments != written.segments {
            return Err(entry.damaged("there is more or less in the archive than it says"));
        }
        if found != written {
            return Err(entry.damaged("the archive has another checksum than it says"));
        }
        self.found = found;
        Ok(())
    }
}

/// The head, of which the format and the release are understood whatever else is in it.
fn head(entry: &ArchiveEntry) -> ArchiveResult<ArchiveHead> {
    let value: serde_json::Value =
        serde_json::from_slice(&entry.bytes).map_err(|error| entry.damaged(error.to_string()))?;
    let format = value["format"].as_u64().and_then(|format| u32::try_from(format).ok());
    if let Some(found) = format.filter(|format| *format > FORMAT) {
        let version = value["version"].as_str().unwrap_or("a later release").to_owned();
        return Err(BackupError::Newer { found, version, known: FORMAT });
    }
    serde_json::from_value(value).map_err(|error| entry.damaged(error.to_string()))
}
