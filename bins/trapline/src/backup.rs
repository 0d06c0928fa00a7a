//! `trapline backup`, `trapline restore` and `trapline verify`.

mod create;
mod place;
mod restore;
mod schedule;

use anyhow::{Context, Result, ensure};
use tokio_util::sync::CancellationToken;
use trapline_app::Settings;
use trapline_backup::{Archive, ArchiveHead, Manifest};

use crate::{
    backend::{Backend, Opened},
    clock::clock,
    config,
    folder::Folder,
    output::print,
};
pub(crate) use create::BackupSource;
pub(crate) use place::ArchivePlace;
pub(crate) use restore::restore;
pub(crate) use schedule::RegularBackups;

/// `trapline backup`
pub(crate) async fn backup(
    to: Option<&str>,
    without_keys: bool,
    config: config::Backend,
) -> Result<()> {
    let to = to.context("--to says where the archive goes, and so does TRAPLINE_BACKUP_TO")?;
    let place = ArchivePlace::of(to).context("--to")?;
    if let config::Backend::Folder(folder) = &config {
        let data = &folder.settings.data;
        ensure!(Folder::is_installed(data), "no installation in {}", data.display());
    }
    let clock = clock();
    let Opened { backend, master, folder, .. } =
        Backend::open(config, clock.clone(), false).await?;
    let shutdown = CancellationToken::new();
    let _shutdown = shutdown.clone().drop_guard();
    let app =
        backend.start(clock.clone(), Settings::default(), &master, false, shutdown.clone()).await?;
    ensure!(app.access().first_team().await?.is_some(), "there is no installation to back up");
    let installation =
        BackupSource { backend: &backend, folder: folder.as_ref(), master: &master, clock: &clock };
    let (name, manifest) = Box::pin(installation.back_up(&place, without_keys)).await?;
    print(&format!("{name} is written: {}.\n", contents(&manifest)))?;
    if !without_keys {
        print(
            "It holds the key that opens the installation's secrets: keep it as safe as that.\n",
        )?;
    }
    shutdown.cancel();
    drop(app);
    backend.close().await;
    Ok(())
}

/// `trapline verify`
pub(crate) async fn verify(from: &str) -> Result<()> {
    let (name, source) = ArchivePlace::of(from).context("--from")?.open().await?;
    let wrong = || name.clone();
    let archive = Archive::open(source).await.with_context(wrong)?;
    let ArchiveHead { version, mode, started, has_key, .. } = archive.head().clone();
    let manifest = archive.verify().await.with_context(wrong)?;
    let key = if has_key { "with its key" } else { "without its key" };
    Ok(print(&format!(
        "{name} is whole: Trapline {version} wrote it {key}, from {mode}, at {started}: {}.\n",
        contents(&manifest)
    ))?)
}

/// What is in an archive.
fn contents(manifest: &Manifest) -> String {
    let rows: u64 = manifest.rows.values().sum();
    let messages = manifest.rows.get("message").copied().unwrap_or_default();
    let Manifest { segments, segment_bytes, missing, .. } = manifest;
    let lost = if *missing > 0 {
        format!("; {missing} segments were lost before, and are not in it")
    } else {
        String::new()
    };
    format!(
        "{rows} rows, {messages} of them messages, and {segments} segments of {segment_bytes} bytes{lost}"
    )
}
