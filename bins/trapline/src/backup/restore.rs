//! `trapline restore`.

use anyhow::{Context, Result, bail, ensure};
use tokio_util::sync::CancellationToken;
use trapline_app::{App, MasterKey, Settings};
use trapline_backup::{Archive, ArchiveHead, BackupError, Manifest, Part, Restore};
use trapline_embedded::Durability;
use trapline_store::records::TABLES;

use super::{ArchivePlace, contents};
use crate::{
    backend::{self, Backend, Opened},
    clock::clock,
    config,
    folder::{AUTHORITY_FILE, Folder, KEY_FILE},
    identity,
    output::print,
};

/// What is read of an archive before any of it is restored.
struct CheckedArchive {
    head: ArchiveHead,
    key: Option<String>,
    authority: Option<String>,
}

/// Restores an archive that is whole, into an installation where nothing is.
pub(crate) async fn restore(from: &str, config: config::Backend) -> Result<()> {
    let place = ArchivePlace::of(from).context("--from")?;
    let (name, source) = place.open().await?;
    let archive = Archive::open(source).await.with_context(|| name.clone())?;
    let checked = check(archive).await.with_context(|| name.clone())?;
    let opened = Box::pin(open(config, &checked)).await?;
    let (_, source) = place.open().await?;
    let mut archive = Archive::open(source).await.with_context(|| name.clone())?;
    let manifest = fill(&opened, &mut archive, &checked).await?;
    opened.backend.close().await;
    Ok(print(&format!("{name} is restored: {}.\n", contents(&manifest)))?)
}

/// Reads an archive to its end.
async fn check(mut archive: Archive) -> Result<CheckedArchive, BackupError> {
    let head = archive.head().clone();
    let mut checked = CheckedArchive { head, key: None, authority: None };
    while let Some(part) = archive.next().await? {
        match part {
            Part::Key { name, text } if name == KEY_FILE => checked.key = Some(text),
            Part::Key { name, text } if name == AUTHORITY_FILE => checked.authority = Some(text),
            _ => {}
        }
    }
    Ok(checked)
}

/// Opens the backend, with the key that the archive's secrets were sealed with.
async fn open(config: config::Backend, checked: &CheckedArchive) -> Result<Opened> {
    let (clock, head) = (clock(), &checked.head);
    let opened = match config {
        config::Backend::Folder(mut folder) => {
            give_key(&folder, checked)?;
            // The end of the restore is synced, and until then nothing of it counts.
            folder.settings.durability = Durability::Process;
            Backend::open(config::Backend::Folder(folder), clock, true).await?
        }
        config::Backend::Cluster(cluster) => {
            check_key(&cluster.secret_key, head)?;
            backend::migrate(cluster, clock).await?
        }
    };
    check_key(&opened.master, head)?;
    Ok(opened)
}

/// Puts the archive's key into a new folder, unless a setting or a file there gives one.
fn give_key(config: &config::Folder, checked: &CheckedArchive) -> Result<()> {
    if let Some(key) = &config.secret_key {
        return check_key(key, &checked.head);
    }
    let folder = Folder::open(&config.settings.data)?;
    match (folder.text(KEY_FILE)?, &checked.key) {
        (Some(_), _) => Ok(()),
        (None, Some(key)) => folder.write_once(KEY_FILE, key),
        (None, None) => bail!(
            "the archive has no key: give the one that its secrets were sealed with, by --secret-key or \
             TRAPLINE_SECRET_KEY"
        ),
    }
}

fn check_key(key: &MasterKey, head: &ArchiveHead) -> Result<()> {
    ensure!(
        key.id()? == head.key_id,
        "the archive's secrets were sealed with another key than this installation's: give the archive's \
         own, by --secret-key or TRAPLINE_SECRET_KEY{}",
        if head.has_key { "; it is in the archive, as keys/secret.key" } else { "" }
    );
    Ok(())
}

async fn fill(
    opened: &Opened,
    archive: &mut Archive,
    checked: &CheckedArchive,
) -> Result<Manifest> {
    let (ports, clock) = (opened.backend.ports(), clock());
    ports.store.prepare(&TABLES).await?;
    let restore = Restore { ports: &ports, clock: &clock };
    restore.check_empty().await.with_context(|| match opened.backend {
        Backend::Folder(_) => "restore into a data folder that is empty or not there",
        Backend::Cluster(_) => "restore into a keyspace that is empty or not there",
    })?;
    let manifest = Box::pin(restore.run(archive)).await?;
    let shutdown = CancellationToken::new();
    let _shutdown = shutdown.clone().drop_guard();
    let app = App::start(
        ports.clone(),
        clock.clone(),
        Settings::default(),
        &opened.master,
        shutdown.clone(),
    );
    let app = app.await.context("what was restored cannot be used")?;
    identity::restore(&app, opened.folder.as_ref(), checked.authority.as_deref()).await?;
    restore.finish().await?;
    shutdown.cancel();
    drop(app);
    Ok(manifest)
}
