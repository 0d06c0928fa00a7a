//! Reading segments, and removing them.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use object_store::{
    Error, GetOptions, GetRange, ObjectStore as _, ObjectStoreExt as _, path::Path,
};
use trapline_store::{BlobRef, Blobs, PortError, Result, Tail};

use super::{
    Segments,
    failure::{is_absent, port_error},
};

#[async_trait]
impl Blobs for Segments {
    async fn read(&self, blob: &BlobRef, part: Option<Range<u64>>) -> Result<Bytes> {
        let damaged = || PortError::Damaged(blob.segment.clone());
        let whole = part.is_none();
        let range = byte_range(blob, part).ok_or_else(damaged)?;
        let read = self.call(self.range(&self.path(&blob.segment), range)).await?;
        match read {
            Ok(Some(bytes)) if whole => blob.verified(bytes),
            Ok(bytes) => bytes.ok_or_else(damaged),
            Err(error) if is_absent(&error) => Err(damaged()),
            Err(error) => Err(self.failed(port_error(error))),
        }
    }

    async fn tail(&self, segment: &str, at_most: u64) -> Result<Option<Tail>> {
        self.meters.get.increment(1);
        let path = self.path(segment);
        let range = Some(GetRange::Suffix(at_most));
        let end = async {
            let found = self.store.get_opts(&path, GetOptions { range, ..<_>::default() }).await?;
            let size = found.meta.size;
            Ok::<_, Error>(Tail { bytes: found.bytes().await?, size })
        };
        match self.call(end).await? {
            Ok(tail) => Ok(Some(tail)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.failed(port_error(error))),
        }
    }

    async fn segment(&self, segment: &str) -> Result<Option<Bytes>> {
        self.meters.get.increment(1);
        let path = self.path(segment);
        let whole = async { self.store.get(&path).await?.bytes().await };
        match self.call(whole).await? {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.failed(port_error(error))),
        }
    }

    async fn remove(&self, segment: &str) -> Result<()> {
        self.meters.delete.increment(1);
        let path = self.path(segment);
        match self.call(self.store.delete(&path)).await? {
            Err(error) if !is_absent(&error) => Err(self.failed(port_error(error))),
            _ => Ok(()),
        }
    }
}

impl Segments {
    /// The bytes of a range; `None` when the segment ends before it does.
    async fn range(&self, path: &Path, range: Range<u64>) -> Result<Option<Bytes>, Error> {
        self.meters.get.increment(1);
        if range.is_empty() {
            // The protocol knows no empty range.
            let size = self.store.head(path).await?.size;
            return Ok((range.end <= size).then(Bytes::new));
        }
        match self.store.get_range(path, range.clone()).await {
            Ok(bytes) => Ok((bytes.len() as u64 == range.end - range.start).then_some(bytes)),
            Err(error) if is_absent(&error) => Err(error),
            // The client does not tell "416 Range Not Satisfiable" from other refusals.
            Err(error) => match self.store.head(path).await {
                Ok(found) if found.size <= range.start => Ok(None),
                _ => Err(error),
            },
        }
    }
}

/// Where a part of a blob is in its segment, cut at the blob's end; `None` when no segment can be
/// so long.
fn byte_range(blob: &BlobRef, part: Option<Range<u64>>) -> Option<Range<u64>> {
    let part = part.unwrap_or(0..blob.len);
    let start = part.start.min(blob.len);
    let end = part.end.clamp(start, blob.len);
    Some(blob.offset.checked_add(start)?..blob.offset.checked_add(end)?)
}
