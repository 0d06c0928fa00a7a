//! Message bytes, in segments, and the commit that makes received mail durable.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Job, Op, PortError, Result};

/// Where one message's bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobRef {
    /// The segment's name.
    pub segment: String,
    /// Bytes from the segment's start.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of the message; rows of older releases have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crc: Option<u32>,
}

impl BlobRef {
    /// The message, which these bytes are to be.
    ///
    /// # Errors
    ///
    /// [`PortError::Damaged`] for other bytes than were written.
    pub fn verified(&self, bytes: Bytes) -> Result<Bytes> {
        match self.crc {
            Some(crc) if crc32c::crc32c(&bytes) != crc => {
                Err(PortError::Damaged(self.segment.clone()))
            }
            _ => Ok(bytes),
        }
    }
}

/// What one commit of the receiving path makes durable: many messages' bytes in one segment, their
/// rows, and at most one job that announces them.
#[derive(Debug)]
pub struct Group {
    /// The segment's name; no segment has had it before.
    pub segment: String,
    /// The segment, see [`crate::segment`].
    pub bytes: Bytes,
    /// Writes to plain tables that come before the bytes, so that bytes whose rows were never
    /// written are found by whoever cleans up. They may outlive a failed commit.
    pub before: Vec<Op>,
    /// Puts of new rows into plain tables; none of them was there before, so that a commit that
    /// fails halfway can remove them again. None when the segment is a copy that frees room, which a
    /// store that is full takes for longer than mail.
    pub rows: Vec<Op>,
    /// Published with the rows. Where jobs go through an outbox, `rows` has the job's row, since the job
    /// itself is not waited for (see [`JobDelivery`](super::JobDelivery)).
    pub job: Option<Job>,
}

/// The write side of the receiving path.
///
/// When `commit` returns, all of the group is durable, or the job's row in its place. Nobody sees a row
/// whose bytes are not there. After an error the rows are not visible; bytes without rows are the janitor's to remove.
/// Embedded: one transaction, one fsync. Cluster: `before`, the segment's PUT, `rows`, then the job.
#[async_trait]
pub trait Intake: Send + Sync {
    /// Makes the group durable.
    ///
    /// # Errors
    ///
    /// [`PortError::StorageFull`] when there is no room for mail, [`PortError::Conflict`] when a segment has
    /// the name, [`PortError::Misuse`] for a row of a guarded table; else as any call (see [`super`]).
    async fn commit(&self, group: Group) -> Result<()>;
}

/// The end of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// The bytes asked for.
    pub bytes: Bytes,
    /// The length of the whole segment, in bytes.
    pub size: u64,
}

/// The read side: ranges of segments, and their removal.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Reads a message, or the part of it that `part` gives relative to its start. A range beyond
    /// the blob is cut at its end; a segment that is not there, or a whole message whose checksum is
    /// another, is an error.
    ///
    /// # Errors
    ///
    /// [`PortError::Damaged`]; else as any call (see [`super`]).
    async fn read(&self, blob: &BlobRef, part: Option<Range<u64>>) -> Result<Bytes>;
    /// Reads the last `at_most` bytes of a segment, all of it where that is less; `None` when it is not
    /// there.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn tail(&self, segment: &str, at_most: u64) -> Result<Option<Tail>>;
    /// Reads a whole segment; `None` when it is not there.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn segment(&self, segment: &str) -> Result<Option<Bytes>>;
    /// Removes a segment; one that is not there is no error.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn remove(&self, segment: &str) -> Result<()>;
}
