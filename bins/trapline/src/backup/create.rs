//! Making an archive, in a command or in a server.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use trapline_app::MasterKey;
use trapline_backup::{ArchiveHead, ArchiveSink, Backup, FORMAT, Manifest};
use trapline_embedded::{Durability, Embedded, Options};
use trapline_store::{Clock, records::TABLES};

use super::ArchivePlace;
use crate::{
    backend::Backend,
    folder::{AUTHORITY_FILE, Folder, KEY_FILE},
    version::VERSION,
};

/// The beginning of the names of folders with snapshots.
const SNAPSHOT: &str = "snapshot-";
/// What is left free on the disk beside a snapshot and an archive, in bytes.
const SPARE_BYTES: u64 = 64 << 20;

/// What is backed up.
pub(crate) struct BackupSource<'a> {
    pub backend: &'a Backend,
    /// One process's folder.
    pub folder: Option<&'a Folder>,
    pub master: &'a MasterKey,
    pub clock: &'a Clock,
}

impl BackupSource<'_> {
    /// Writes an archive; what it is called, and what is in it.
    pub(crate) async fn back_up(
        &self,
        place: &ArchivePlace,
        without_keys: bool,
    ) -> Result<(String, Manifest)> {
        let head = ArchiveHead {
            format: FORMAT,
            version: VERSION.to_owned(),
            mode: self.mode().to_owned(),
            started: self.clock.now(),
            key_id: self.master.id()?,
            has_key: !without_keys,
        };
        let keys = if without_keys { Vec::new() } else { self.keys()? };
        let (Backend::Folder(embedded), Some(folder)) = (self.backend, self.folder) else {
            let (name, sink) = place.create(head.started).await?;
            let written = self.shared(&head, &keys, sink).await.with_context(|| name.clone())?;
            return Ok((name, written));
        };
        let _lock = folder.lock_for_backup()?;
        has_room(embedded, folder, place)?;
        let snapshot = Snapshot::in_folder(folder.path())?;
        let copy = self.copy(embedded, &snapshot).await?;
        let (name, sink) = place.create(head.started).await?;
        let ports = copy.ports();
        let (store, blobs) = (&*ports.store, &*ports.blobs);
        let backup = Backup { store, blobs, clock: self.clock, is_shared: false };
        let written = backup.write(&head, &keys, sink).await;
        drop(ports);
        copy.close().await;
        let written = written.with_context(|| name.clone())?;
        Ok((name, written))
    }

    async fn shared(
        &self,
        head: &ArchiveHead,
        keys: &[(&str, String)],
        sink: Box<dyn ArchiveSink>,
    ) -> Result<Manifest> {
        let ports = self.backend.ports();
        let (store, blobs) = (&*ports.store, &*ports.blobs);
        let backup = Backup { store, blobs, clock: self.clock, is_shared: true };
        Ok(backup.write(head, keys, sink).await?)
    }

    fn mode(&self) -> &'static str {
        match self.backend {
            Backend::Folder(_) => "one process",
            Backend::Cluster(_) => "a cluster",
        }
    }

    fn keys(&self) -> Result<Vec<(&'static str, String)>> {
        let mut keys = vec![(KEY_FILE, self.master.to_text())];
        if let Some(authority) =
            self.folder.map(|folder| folder.text(AUTHORITY_FILE)).transpose()?.flatten()
        {
            keys.push((AUTHORITY_FILE, authority));
        }
        Ok(keys)
    }

    /// A copy of all, as it is at one moment, which nobody else works on.
    async fn copy(&self, embedded: &Embedded, snapshot: &Snapshot) -> Result<Embedded> {
        embedded.snapshot(&snapshot.0).await.context("the database cannot be copied")?;
        let options = Options {
            durability: Durability::Process,
            disk_margin: 0,
            clock: self.clock.clone(),
            ..Options::new(&snapshot.0)
        };
        let copy = Embedded::open(options).await?;
        copy.ports().store.prepare(&TABLES).await?;
        copy.put_jobs_into_outbox().await?;
        Ok(copy)
    }
}

/// Refuses to take what mail needs.
fn has_room(embedded: &Embedded, folder: &Folder, place: &ArchivePlace) -> Result<()> {
    let size = embedded.size()?;
    let copies = if place.is_on_disk_of(folder.path()) { 2 } else { 1 };
    let needed = size.saturating_mul(copies).saturating_add(SPARE_BYTES);
    let (free, _) = embedded.disk_space()?;
    ensure!(
        free >= needed,
        "the disk of the data folder has {free} bytes free, and a backup needs {needed}: a copy of the \
         database{}. Free some, or add to the disk",
        if copies == 2 { ", and the archive, which may go elsewhere" } else { "" }
    );
    Ok(())
}

/// A folder for a snapshot, which goes when this is dropped.
struct Snapshot(PathBuf);

impl Snapshot {
    /// Names a folder, and removes those that killed backups left. The caller holds the lock of backups.
    fn in_folder(folder: &Path) -> Result<Self> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(SNAPSHOT) {
                fs::remove_dir_all(entry.path())
                    .with_context(|| format!("cannot remove {}", entry.path().display()))?;
            }
        }
        Ok(Self(folder.join(format!("{SNAPSHOT}{}", std::process::id()))))
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, folder = %self.0.display(), "a snapshot was not removed");
        }
    }
}
