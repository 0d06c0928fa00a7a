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
pub enum Malformed {
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

/// What a segment holds, in the order in which it was added.
pub fn entries(segment: &[u8]) -> Result<Vec<Entry>, Malformed> {
    let (mut footer, start) = footer(segment)?;
    let mut found = Vec::with_capacity(footer.len() / ENTRY);
    while footer.len() >= ENTRY {
        let entry = read(&mut footer);
        let end = entry.offset.checked_add(entry.len).ok_or(Malformed::Bounds)?;
        if entry.offset < MAGIC.len() as u64 || end > start as u64 {
            return Err(Malformed::Bounds);
        }
        found.push(entry);
    }
    Ok(found)
}

/// Whether the segment has the entry's bytes as they were written.
#[must_use]
pub fn verify(entry: &Entry, segment: &[u8]) -> bool {
    bytes_of(entry, segment).is_some_and(|bytes| crc32c::crc32c(bytes) == entry.crc)
}

/// The footer's bytes and where they begin.
fn footer(segment: &[u8]) -> Result<(&[u8], usize), Malformed> {
    let body = segment.len().checked_sub(TAIL).ok_or(Malformed::Short)?;
    let room = body.checked_sub(MAGIC.len()).ok_or(Malformed::Short)?;
    if !segment.starts_with(MAGIC) {
        return Err(Malformed::Magic);
    }
    let mut tail = &segment[body..];
    let (crc, length) = (tail.get_u32_le(), tail.get_u32_le() as usize);
    if length > room {
        return Err(Malformed::Short);
    }
    let footer = &segment[body - length..body];
    if !length.is_multiple_of(ENTRY) || crc32c::crc32c(footer) != crc {
        return Err(Malformed::Footer);
    }
    Ok((footer, body - length))
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
