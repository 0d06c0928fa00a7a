//! Archives in a bucket.

use std::{io, path::Path, sync::Arc};

use anyhow::{Context, Result};
use async_trait::async_trait;
use bytes::Bytes;
use trapline_backup::{ArchiveSink, ArchiveSource, is_file_name};

use super::is_archive;
use crate::cluster::{Objects, Upload};

/// Bytes read at a time.
const CHUNK: u64 = 4 << 20;

/// A prefix of a bucket, or one object there.
pub(crate) struct ArchiveBucket {
    objects: Arc<Objects>,
    /// The URL without its parameters, one of which is a secret.
    shown: String,
    /// The object that the URL names.
    object: Option<String>,
}

impl ArchiveBucket {
    pub(super) fn open(url: &str) -> Result<Self> {
        let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
        let (prefix, object) = match place.rsplit_once('/') {
            Some((prefix, name)) if is_archive(Path::new(name)) => (prefix, Some(name.to_owned())),
            _ => (place, None),
        };
        let objects = Objects::open(&format!("{prefix}?{parameters}"))?;
        Ok(Self { objects: Arc::new(objects), shown: prefix.to_owned(), object })
    }

    pub(super) async fn create(&self, name: &str) -> Result<(String, Box<dyn ArchiveSink>)> {
        let name = self.object.as_deref().unwrap_or(name);
        let shown = format!("{}/{name}", self.shown);
        let upload = self.objects.upload(name).await;
        let upload = upload.with_context(|| format!("cannot write {shown}"))?;
        Ok((shown, Box::new(ObjectSink(upload))))
    }

    pub(super) async fn source(&self) -> Result<(String, Box<dyn ArchiveSource>)> {
        let name = if let Some(name) = &self.object {
            name.clone()
        } else {
            let none = || format!("there is no archive under {}", self.shown);
            self.archives().await?.pop().with_context(none)?
        };
        let shown = format!("{}/{name}", self.shown);
        let size = self.objects.size(&name).await;
        let size = size.with_context(|| format!("cannot read {shown}"))?;
        let size = size.with_context(|| format!("there is no {shown}"))?;
        Ok((shown, Box::new(ObjectSource { objects: self.objects.clone(), name, size, at: 0 })))
    }

    pub(super) async fn remove(&self, name: &str) -> Result<()> {
        let removed = self.objects.remove(name).await;
        removed.with_context(|| format!("cannot remove {}/{name}", self.shown))
    }

    /// The archives under the prefix, oldest first.
    pub(super) async fn archives(&self) -> Result<Vec<String>> {
        let names = self.objects.names().await;
        let mut names = names.with_context(|| format!("cannot list {}", self.shown))?;
        names.retain(|name| is_file_name(name));
        names.sort_unstable();
        Ok(names)
    }
}

struct ObjectSink(Upload);

#[async_trait]
impl ArchiveSink for ObjectSink {
    async fn write(&mut self, bytes: Bytes) -> io::Result<()> {
        self.0.write(bytes).await.map_err(io::Error::other)
    }

    async fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish().await.map_err(io::Error::other)
    }
}

/// Reads an object part by part: a request for all of it would take too long.
struct ObjectSource {
    objects: Arc<Objects>,
    name: String,
    size: u64,
    at: u64,
}

#[async_trait]
impl ArchiveSource for ObjectSource {
    async fn read(&mut self) -> io::Result<Option<Bytes>> {
        if self.at >= self.size {
            return Ok(None);
        }
        let end = self.at.saturating_add(CHUNK).min(self.size);
        let bytes = self.objects.read(&self.name, self.at..end).await.map_err(io::Error::other)?;
        self.at = end;
        Ok(Some(bytes))
    }
}
