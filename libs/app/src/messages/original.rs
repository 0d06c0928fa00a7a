//! A message as it was sent. A large one is read piece by piece while its client takes it, so that
//! whoever asks and reads nothing costs a piece or two.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, stream};
use trapline_model::{MessageId, Principal};
use trapline_store::BlobRef;

use super::{
    Messages,
    content::{MessageBytes, damaged},
};
use crate::{
    Result,
    body_memory::{self, HeldBytes},
};

/// Bytes of a piece. A message of at most as many is read at once.
const PIECE_BYTES: u64 = 1 << 20;
/// Pieces that are in memory together: one of which the end is still to be written, and the next.
const MAX_PIECES: u64 = 2;

/// The bytes of a message.
pub enum Original {
    /// All of them, which are those that were stored.
    Whole(Bytes),
    /// Pieces, each read when it is taken.
    Pieces(Pieces),
}

/// What of a message is not taken yet.
pub struct Pieces {
    reader: MessageBytes,
    blob: BlobRef,
    /// Bytes that were read.
    read: u64,
    /// CRC-32C of these.
    crc: u32,
    /// Read, and not taken yet.
    next: Option<Bytes>,
    memory: Option<Arc<HeldBytes>>,
}

/// A piece, with the memory for it.
struct HeldPiece {
    bytes: Bytes,
    _memory: Option<Arc<HeldBytes>>,
}

impl Messages {
    /// The message as sent, byte for byte; a large one piece by piece.
    ///
    /// # Errors
    ///
    /// [`crate::Error::NotFound`] when the team has no such message, and [`crate::Error::Damaged`] when its bytes are
    /// gone or not those that were stored.
    pub async fn original(&self, by: &Principal, id: MessageId) -> Result<Original> {
        let blob = self.record(by.team, id).await?.blob;
        if blob.len <= PIECE_BYTES {
            return Ok(Original::Whole(self.bytes.read(&blob).await?));
        }
        let memory = body_memory::hold(MAX_PIECES * PIECE_BYTES).await?.map(Arc::new);
        let mut pieces =
            Pieces { reader: self.bytes.clone(), blob, read: 0, crc: 0, next: None, memory };
        // What is not there at all is told before an answer has begun.
        pieces.next = pieces.read().await?;
        Ok(Original::Pieces(pieces))
    }
}

impl Pieces {
    /// Bytes of the whole message.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is larger than a piece")]
    pub fn len(&self) -> u64 {
        self.blob.len
    }

    /// The pieces in order. The last one comes only if all of them together are the bytes that were
    /// stored; else there is an error in its place.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes>> {
        stream::try_unfold(self, |mut pieces| async move {
            let next = match pieces.next.take() {
                Some(first) => Some(first),
                None => pieces.read().await?,
            };
            Ok(next.map(|piece| (piece, pieces)))
        })
    }

    async fn read(&mut self) -> Result<Option<Bytes>> {
        let until = self.blob.len.min(self.read + PIECE_BYTES);
        if until == self.read {
            return Ok(None);
        }
        let bytes = self.reader.read_part(&mut self.blob, Some(self.read..until)).await?;
        self.crc = crc32c::crc32c_append(self.crc, &bytes);
        self.read += bytes.len() as u64;
        let is_last = self.read == self.blob.len;
        let is_cut = self.read < until;
        if is_cut || is_last && self.blob.crc.is_some_and(|crc| crc != self.crc) {
            return Err(damaged(self.blob.segment.clone()));
        }
        Ok(Some(Bytes::from_owner(HeldPiece { bytes, _memory: self.memory.clone() })))
    }
}

impl AsRef<[u8]> for HeldPiece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
