//! Segments: the bytes of many messages in one object, with a footer that says whose they are.
//!
//! ```text
//! magic, 8 bytes
//! raw messages, back to back
//! footer: one entry per message id
//!     inbox 16 bytes, UUIDv7 16 bytes, offset u64, length u64, CRC-32C u32
//! CRC-32C of the footer u32
//! length of the footer in bytes u32
//! ```
//!
//! Numbers are little-endian. A segment of one message is 68 bytes longer than the message. A
//! message to several inboxes is kept once and has an entry for each.

mod name;
mod read;
#[cfg(test)]
mod tests;

use bytes::{BufMut, Bytes, BytesMut};
use trapline_model::MessageId;

use crate::BlobRef;

pub use name::{Class, class_of, created_at, name, parse};
pub use read::{Entry, Footer, MalformedSegment, entries, footer, verify};

const MAGIC: &[u8; 8] = b"TLSEG\x00\x01\n";
const ENTRY: usize = 16 + 16 + 8 + 8 + 4;
const TAIL: usize = 4 + 4;

/// Where a message is within its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Bytes from the segment's start.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// CRC-32C of the message.
    pub crc: u32,
}

impl Placed {
    /// The message in the segment of this name.
    #[must_use]
    pub fn within(self, segment: &str) -> BlobRef {
        let Self { offset, len, crc } = self;
        BlobRef { segment: segment.to_owned(), offset, len, crc: Some(crc) }
    }
}

/// Puts a segment together.
#[derive(Debug)]
pub struct Builder {
    body: BytesMut,
    footer: BytesMut,
}

impl Builder {
    /// A segment without messages.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(0, 0)
    }

    /// The same with room for messages of `bytes` octets together, known by so many ids: within it
    /// a segment is never moved while it grows.
    #[must_use]
    pub fn with_capacity(bytes: usize, ids: usize) -> Self {
        let footer = BytesMut::with_capacity(ids * ENTRY);
        let mut body = BytesMut::with_capacity(MAGIC.len() + bytes + ids * ENTRY + TAIL);
        body.put_slice(MAGIC);
        Self { body, footer }
    }

    /// Adds a message that is known by each of `ids`.
    pub fn add(&mut self, ids: &[MessageId], bytes: &[u8]) -> Placed {
        let (offset, len) = (self.body.len() as u64, bytes.len() as u64);
        let crc = crc32c::crc32c(bytes);
        self.body.put_slice(bytes);
        for id in ids {
            self.footer.put_slice(id.inbox.0.as_bytes());
            self.footer.put_slice(id.uuid.as_bytes());
            self.footer.put_u64_le(offset);
            self.footer.put_u64_le(len);
            self.footer.put_u32_le(crc);
        }
        Placed { offset, len, crc }
    }

    /// The length that the segment would have now, in bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a segment is never without bytes")]
    pub fn len(&self) -> usize {
        self.body.len() + self.footer.len() + TAIL
    }

    /// The segment.
    #[must_use]
    pub fn finish(mut self) -> Bytes {
        // Groups are bounded to a few megabytes, so the footer is far below 4 GiB.
        let length = u32::try_from(self.footer.len()).unwrap_or(u32::MAX);
        let crc = crc32c::crc32c(&self.footer);
        self.body.unsplit(self.footer);
        self.body.put_u32_le(crc);
        self.body.put_u32_le(length);
        self.body.freeze()
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}
