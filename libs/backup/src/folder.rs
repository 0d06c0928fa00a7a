//! Archives in files.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{ArchiveSink, ArchiveSource};

/// Bytes that are written and read at a time.
const CHUNK: usize = 1 << 20;
/// What the name of a file ends in while it is being written.
pub(crate) const UNFINISHED: &str = ".part";

/// Writes a file that only this user can read. It has its name when it is whole; until then it has another,
/// and goes when this is dropped.
pub struct FileSink {
    draft: PathBuf,
    path: PathBuf,
    file: Option<File>,
    waiting: Vec<u8>,
}

impl FileSink {
    /// Begins a file. Its folder is made when it is absent.
    ///
    /// # Errors
    ///
    /// When the file is there already, or cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.try_exists()? {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let mut draft = path.as_os_str().to_owned();
        draft.push(UNFINISHED);
        let draft = PathBuf::from(draft);
        let mut options = fs::OpenOptions::new();
        let file = options.create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
        Ok(Self { draft, path: path.to_owned(), file: Some(file), waiting: Vec::new() })
    }

    /// Runs what may take long beside the reactor.
    async fn work(
        &mut self,
        work: impl FnOnce(&mut File) -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let Some(mut file) = self.file.take() else {
            return Err(io::Error::other("an earlier write failed"));
        };
        let done = tokio::task::spawn_blocking(move || work(&mut file).map(|()| file));
        self.file = Some(done.await.map_err(io::Error::other)??);
        Ok(())
    }

    async fn flush(&mut self) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.work(move |file| file.write_all(&waiting)).await
    }
}

#[async_trait]
impl ArchiveSink for FileSink {
    async fn write(&mut self, bytes: Bytes) -> io::Result<()> {
        self.waiting.extend_from_slice(&bytes);
        if self.waiting.len() < CHUNK { Ok(()) } else { self.flush().await }
    }

    async fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush().await?;
        let (draft, path) = (self.draft.clone(), self.path.clone());
        self.work(move |file| {
            file.sync_all()?;
            fs::rename(&draft, &path)?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            // The name is durable only when the folder is.
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        })
        .await
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        // After its end the file has another name.
        fs::remove_file(&self.draft).ok();
    }
}

/// Reads a file.
pub struct FileSource(Option<File>);

impl FileSource {
    /// Opens the file.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(|file| Self(Some(file)))
    }
}

#[async_trait]
impl ArchiveSource for FileSource {
    async fn read(&mut self) -> io::Result<Option<Bytes>> {
        let Some(mut file) = self.0.take() else { return Ok(None) };
        let reading = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK];
            let length = file.read(&mut chunk)?;
            chunk.truncate(length);
            Ok::<_, io::Error>((file, chunk))
        });
        let (file, chunk) = reading.await.map_err(io::Error::other)??;
        self.0 = Some(file);
        Ok((!chunk.is_empty()).then(|| chunk.into()))
    }
}
