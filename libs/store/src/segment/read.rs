//! Reading what a segment holds, from bytes that nobody vouches for.

use bytes::Buf;
use trapline_model::{InboxId, MessageId};
use uuid::Uuid;

use super::{ENTRY, MAGIC, TAIL};

/// One message in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Whose bytes they are.
    pub id: MessageId,
    /// Bytes from the segment's start.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of the message.
    pub crc: u32,
}

/// Bytes that are not a whole segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MalformedSegment {
    /// Shorter than an empty segment, or than its footer says.
    #[error("the segment is cut off")]
    Short,
    /// The first bytes are another format's, or another version's.
    #[error("not a segment of a known version")]
    Magic,
    /// The footer's checksum or length is wrong.
    #[error("the segment's footer is damaged")]
    Footer,
    /// An entry points outside of the messages.
    #[error("a segment entry is out of bounds")]
    Bounds,
}

/// What the end of a segment tells.
#[derive(Debug, PartialEq, Eq)]
pub enum Footer {
    /// What the segment holds, in the order in which it was added.
    Whole(Vec<Entry>),
    /// So many bytes from the end are needed, which is more than there were.
    Longer(u64),
}

/// What a segment holds, in the order in which it was added.
///
/// # Errors
///
/// What is wrong with the bytes: they are not those of a segment, or not all of them.
pub fn entries(segment: &[u8]) -> Result<Vec<Entry>, MalformedSegment> {
    if segment.len() < MAGIC.len() + TAIL {
        return Err(MalformedSegment::Short);
    }
    if !segment.starts_with(MAGIC) {
        return Err(MalformedSegment::Magic);
    }
    match footer(segment, segment.len() as u64)? {
        Footer::Whole(entries) => Ok(entries),
        Footer::Longer(_) => Err(MalformedSegment::Short),
    }
}

/// What a segment of `size` bytes holds, by its last bytes alone.
///
/// # Errors
///
/// What is wrong with the bytes: they are not those of a segment, or not all of them.
pub fn footer(tail: &[u8], size: u64) -> Result<Footer, MalformedSegment> {
    let body = tail.len().checked_sub(TAIL).ok_or(MalformedSegment::Short)?;
    let room = size.checked_sub((MAGIC.len() + TAIL) as u64).ok_or(MalformedSegment::Short)?;
    let mut numbers = &tail[body..];
    let (crc, length) = (numbers.get_u32_le(), numbers.get_u32_le());
    if u64::from(length) > room {
        return Err(MalformedSegment::Short);
    }
    let start = size - TAIL as u64 - u64::from(length);
    let Some(from) = body.checked_sub(length as usize) else {
        return Ok(Footer::Longer(u64::from(length) + TAIL as u64));
    };
    let mut footer = &tail[from..body];
    if !footer.len().is_multiple_of(ENTRY) || crc32c::crc32c(footer) != crc {
        return Err(MalformedSegment::Footer);
    }
    let mut found = Vec::with_capacity(footer.len() / ENTRY);
    while footer.len() >= ENTRY {
        let entry = read(&mut footer);
        let end = entry.offset.checked_add(entry.len).ok_or(MalformedSegment::Bounds)?;
        if entry.offset < MAGIC.len() as u64 || end > start {
            return Err(MalformedSegment::Bounds);
        }
        found.push(entry);
    }
    Ok(Footer::Whole(found))
}

/// Whether the segment has the entry's bytes as they were written.
#[must_use]
pub fn verify(entry: &Entry, segment: &[u8]) -> bool {
    bytes_of(entry, segment).is_some_and(|bytes| crc32c::crc32c(bytes) == entry.crc)
}

fn read(footer: &mut &[u8]) -> Entry {
    let mut uuid = || Uuid::from_u128(footer.get_u128());
    let id = MessageId { inbox: InboxId(uuid()), uuid: uuid() };
    Entry { id, offset: footer.get_u64_le(), len: footer.get_u64_le(), crc: footer.get_u32_le() }
}

fn bytes_of<'a>(entry: &Entry, segment: &'a [u8]) -> Option<&'a [u8]> {
    let start = usize::try_from(entry.offset).ok()?;
    let end = start.checked_add(usize::try_from(entry.len).ok()?)?;
    segment.get(start..end)
}
