//! The data folder: creates and locks it, and keeps its secret key.

use std::{
    fs::{self, File, OpenOptions, Permissions, TryLockError},
    io::Write,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use trapline_app::MasterKey;

/// The key behind every secret.
pub(crate) const KEY_FILE: &str = "secret.key";
const DATABASE: &str = "trapline.db";
/// The certificate authority of the SMTP edge, with its key.
pub(crate) const AUTHORITY_FILE: &str = "smtp-ca.pem";
/// The permission bits of everybody but the owner.
const OTHERS_MODE: u32 = 0o077;

/// A data folder that is there.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Opens the folder, and makes it for this user only when it is absent.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("cannot make the data folder {}", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    /// Whether there is a database in the folder.
    pub(crate) fn is_installed(path: &Path) -> bool {
        fs::metadata(path.join(DATABASE)).is_ok_and(|file| file.len() > 0)
    }

    /// Makes the key files private to this user, and warns of what others can still read: a file system
    /// without permissions leaves it open, and so may whoever made the folder.
    pub(crate) fn restrict_permissions(&self) {
        for name in [KEY_FILE, AUTHORITY_FILE] {
            fs::set_permissions(self.0.join(name), Permissions::from_mode(0o600)).ok();
        }
        let is_open = |path: &Path| fs::metadata(path).is_ok_and(|it| it.mode() & OTHERS_MODE != 0);
        if is_open(&self.0) {
            let folder = self.0.display();
            tracing::warn!(
                "other users of this machine can look into the data folder {folder}: \
                 `chmod 700 {folder}` keeps them out"
            );
        }
        for name in [DATABASE, KEY_FILE, AUTHORITY_FILE] {
            let path = self.0.join(name);
            if is_open(&path) {
                tracing::warn!("other users of this machine can read {}", path.display());
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Keeps other servers away while the returned file is open.
    pub(crate) fn lock(&self) -> Result<File> {
        self.lock_file("lock")?.with_context(|| {
            format!("another server runs over the data folder {}", self.0.display())
        })
    }

    /// Keeps other backups away while the returned file is open.
    pub(crate) fn lock_for_backup(&self) -> Result<File> {
        self.lock_file("backup.lock")?.with_context(|| {
            format!("another backup of the data folder {} is under way", self.0.display())
        })
    }

    /// Locks a file of the folder; `None` when another process has it.
    fn lock_file(&self, name: &str) -> Result<Option<File>> {
        let path = self.0.join(name);
        let file = private(OpenOptions::new().create(true).truncate(false).write(true), &path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }

    /// The configured key, or the folder's own, which is made at the first start.
    pub(crate) fn master_key(&self, configured: Option<MasterKey>) -> Result<MasterKey> {
        if let Some(key) = configured {
            return Ok(key);
        }
        let path = self.0.join(KEY_FILE);
        if let Some(text) = read(&path)? {
            return MasterKey::from_text(&text)
                .with_context(|| format!("{} holds no key", path.display()));
        }
        // Another key would open nothing of what is there.
        anyhow::ensure!(
            !Self::is_installed(&self.0),
            "{} is not there, and without it the passwords and webhook secrets of this installation \
             cannot be read: put it back from a backup, or give its key with --secret-key or \
             TRAPLINE_SECRET_KEY; without the key, start anew in an empty folder",
            path.display()
        );
        let key = MasterKey::generate().context("the system has no randomness")?;
        self.write_once(KEY_FILE, &key.to_text())?;
        // Another process may have been first; the file that is there now is the one.
        let text = read(&path)?.with_context(|| format!("cannot read {}", path.display()))?;
        MasterKey::from_text(&text).with_context(|| format!("{} holds no key", path.display()))
    }

    /// Reads a file of the folder; `None` when it is absent.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>> {
        read(&self.0.join(name))
    }

    /// Writes a file that only this user can read, durably and whole; one that is there already
    /// stays.
    pub(crate) fn write_once(&self, name: &str, text: &str) -> Result<()> {
        let path = self.0.join(name);
        let draft = self.0.join(format!("{name}.{}", std::process::id()));
        let mut file = private(OpenOptions::new().create(true).truncate(true).write(true), &draft)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).with_context(|| {
            format!("cannot write {}: is the disk full that holds it?", draft.display())
        })?;
        link_or_rename(&draft, &path, |draft, path| fs::hard_link(draft, path))
            .with_context(|| format!("cannot write {}", path.display()))?;
        File::open(&self.0)?.sync_all()?;
        Ok(())
    }
}

/// Gives the draft its name, unless a file has that. Some network volumes have no hard links: there it
/// is renamed, which only a server that starts at the same moment could notice.
fn link_or_rename(
    draft: &Path,
    path: &Path,
    link: impl Fn(&Path, &Path) -> std::io::Result<()>,
) -> std::io::Result<()> {
    match link(draft, path) {
        Err(error)
            if error.kind() != std::io::ErrorKind::AlreadyExists && !path.try_exists()? =>
        {
            return fs::rename(draft, path);
        }
        _ => {}
    }
    fs::remove_file(draft)
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn private(options: &mut OpenOptions, path: &Path) -> Result<File> {
    options.mode(0o600).open(path).with_context(|| format!("cannot open {}", path.display()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn a_volume_without_hard_links_keeps_files_too_and_replaces_none() {
        let folder = tempfile::tempdir().unwrap();
        let [draft, path] = ["draft", "file"].map(|name| folder.path().join(name));
        let no_links = |_: &Path, _: &Path| Err(Error::from(ErrorKind::Unsupported));
        for text in ["first", "second"] {
            fs::write(&draft, text).unwrap();
            link_or_rename(&draft, &path, no_links).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "first");
            assert!(!draft.exists());
        }
        let link = |draft: &Path, path: &Path| fs::hard_link(draft, path);
        fs::write(&draft, "third").unwrap();
        link_or_rename(&draft, &path, link).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert!(!draft.exists());
    }
}
