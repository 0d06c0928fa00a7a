//! Reads the bytes of messages, and runs parsers over them.

use std::{ops::Range, sync::Arc};

use bytes::Bytes;
use trapline_store::{
    BlobRef, Blobs, PortError, Store, load,
    records::{Moved, SegmentAlias},
};

use crate::{CpuPool, Error, Result, body_memory, metrics, parts::Parts};

/// A larger message is parsed on the CPU pool. Smaller ones take less than a millisecond, and are parsed
/// at once even where the pool's queue is long.
const MAX_INLINE_BYTES: usize = 16 * 1024;
/// How often a message may have been moved by compaction before it is read.
const MAX_MOVES: usize = 16;

/// Reads message bytes.
#[derive(Clone)]
pub(super) struct MessageBytes {
    store: Arc<dyn Store>,
    blobs: Arc<dyn Blobs>,
    cpu: Arc<CpuPool>,
}

impl MessageBytes {
    pub(super) fn new(parts: &Parts) -> Self {
        let (store, blobs) = (parts.ports.store.clone(), parts.ports.blobs.clone());
        Self { store, blobs, cpu: parts.cpu.clone() }
    }

    /// Reads a message's bytes, once there is memory for them.
    pub(super) async fn read(&self, blob: &BlobRef) -> Result<Bytes> {
        let mut at = blob.clone();
        body_memory::read(blob.len, self.read_part(&mut at, None)).await
    }

    /// Reads a message or a part of it, and sets `blob` to where compaction has moved it.
    pub(super) async fn read_part(
        &self,
        blob: &mut BlobRef,
        part: Option<Range<u64>>,
    ) -> Result<Bytes> {
        for _ in 0..MAX_MOVES {
            match self.blobs.read(blob, part.clone()).await {
                Err(PortError::Damaged(segment)) => match self.moved(blob).await? {
                    Some(to) => *blob = to,
                    None => return Err(damaged(segment)),
                },
                read => return Ok(read?),
            }
        }
        Err(damaged(blob.segment.clone()))
    }

    async fn moved(&self, blob: &BlobRef) -> Result<Option<BlobRef>> {
        let row = SegmentAlias::row(&blob.segment);
        let alias = load::<SegmentAlias>(&*self.store, &row).await?;
        Ok(alias.and_then(|(alias, _)| {
            // An empty message begins where the next one does.
            let same = |moved: &Moved| (moved.offset, moved.to.len) == (blob.offset, blob.len);
            let to = alias.moved.into_iter().find(same)?.to;
            // What was written first is what counts.
            Some(BlobRef { crc: blob.crc.or(to.crc), ..to })
        }))
    }

    /// Runs a parser; on the CPU pool when the message is large.
    pub(super) async fn run_parser<T: Send + 'static>(
        &self,
        raw: Bytes,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T> {
        if raw.len() <= MAX_INLINE_BYTES {
            Ok(parse(&raw))
        } else {
            self.cpu.run(move || parse(&raw)).await
        }
    }
}

pub(super) fn damaged(segment: String) -> Error {
    tracing::error!(segment, "the stored bytes of a message are missing or damaged");
    metrics::message_damaged();
    Error::Damaged(segment)
}
