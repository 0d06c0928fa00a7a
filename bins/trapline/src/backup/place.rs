//! Where archives are: a file, a folder, or a bucket.

mod bucket;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use trapline_backup::{
    ArchiveSink, ArchiveSource, FileSink, FileSource, begun_at, file_name, is_file_name, unfinished,
};
use trapline_model::Time;

use bucket::ArchiveBucket;

/// For how long somebody may be at work on an archive that is not finished.
const UNFINISHED_FOR: Duration = Duration::from_hours(24);

/// A place for archives, or for one.
pub(crate) enum ArchivePlace {
    File(PathBuf),
    Folder(PathBuf),
    Bucket(ArchiveBucket),
}

impl ArchivePlace {
    /// The place that a setting names; nothing is opened.
    pub(crate) fn of(text: &str) -> Result<Self> {
        if text.starts_with("s3://") {
            return Ok(Self::Bucket(ArchiveBucket::open(text)?));
        }
        if text.is_empty() || text.contains("://") {
            bail!("wants a file that ends in .tar, a folder, or s3://bucket/prefix");
        }
        let path = PathBuf::from(text);
        Ok(if is_archive(&path) { Self::File(path) } else { Self::Folder(path) })
    }

    /// Begins an archive; what it is called.
    pub(crate) async fn create(&self, started: Time) -> Result<(String, Box<dyn ArchiveSink>)> {
        let path = match self {
            Self::File(path) => path.clone(),
            Self::Folder(folder) => folder.join(file_name(started)),
            Self::Bucket(bucket) => return bucket.create(&file_name(started)).await,
        };
        let name = path.display().to_string();
        let sink = FileSink::create(&path).with_context(|| format!("cannot write {name}"))?;
        Ok((name, Box::new(sink)))
    }

    /// Opens the archive, the newest where there may be several; what it is called.
    pub(crate) async fn open(&self) -> Result<(String, Box<dyn ArchiveSource>)> {
        let path = match self {
            Self::File(path) => path.clone(),
            Self::Folder(folder) => {
                let newest = archives_in(folder)?.pop();
                let none = || format!("there is no archive in {}", folder.display());
                folder.join(newest.with_context(none)?)
            }
            Self::Bucket(bucket) => return bucket.source().await,
        };
        let name = path.display().to_string();
        let source = FileSource::open(&path).with_context(|| format!("cannot read {name}"))?;
        Ok((name, Box::new(source)))
    }

    /// When the newest archive was begun, where there may be several.
    pub(crate) async fn newest(&self) -> Result<Option<Time>> {
        let names = match self {
            Self::File(_) => Vec::new(),
            Self::Folder(folder) => archives_in(folder)?,
            Self::Bucket(bucket) => bucket.archives().await?,
        };
        Ok(names.last().and_then(|name| begun_at(name)))
    }

    /// Removes all archives but the newest, and what killed backups of the days before left unfinished.
    pub(crate) async fn keep(&self, newest: usize, now: Time) -> Result<()> {
        match self {
            Self::File(_) => Ok(()),
            Self::Folder(folder) => {
                for name in surplus(archives_in(folder)?, newest) {
                    remove(&folder.join(name))?;
                }
                remove_unfinished(folder, now.before(UNFINISHED_FOR))
            }
            Self::Bucket(bucket) => {
                for name in surplus(bucket.archives().await?, newest) {
                    bucket.remove(&name).await?;
                }
                Ok(())
            }
        }
    }

    /// Whether what is written here takes room on the disk of this folder.
    pub(crate) fn is_on_disk_of(&self, folder: &Path) -> bool {
        let (Self::File(path) | Self::Folder(path)) = self else { return false };
        // The folder may be there later only.
        let there = path.ancestors().find_map(|path| {
            let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            device(path)
        });
        there.is_some() && there == device(folder)
    }
}

/// All but the last of sorted names.
fn surplus(mut names: Vec<String>, keep: usize) -> Vec<String> {
    names.truncate(names.len().saturating_sub(keep));
    names
}

fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))
}

/// Removes what was begun before a time and never had its name.
fn remove_unfinished(folder: &Path, before: Time) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let begun = name.to_str().and_then(unfinished).and_then(begun_at);
        if begun.is_some_and(|begun| begun < before) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn device(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|found| std::os::unix::fs::MetadataExt::dev(&found))
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "tar")
}

/// The archives in a folder, oldest first; none where there is no folder.
fn archives_in(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string().ok().filter(|name| is_file_name(name)));
    }
    names.sort_unstable();
    Ok(names)
}
