//! The headers of tar files: POSIX ustar (IEEE Std 1003.1, "pax"), regular files with short names only.

/// What everything in a tar file is a multiple of, in bytes.
pub(crate) const BLOCK: usize = 512;

/// A field of a header: its start and its length.
type HeaderField = (usize, usize);
const NAME: HeaderField = (0, 100);
const MODE: HeaderField = (100, 8);
const OWNER: HeaderField = (108, 8);
const GROUP: HeaderField = (116, 8);
const SIZE: HeaderField = (124, 12);
const TIME: HeaderField = (136, 12);
const SUM: HeaderField = (148, 8);
const KIND: usize = 156;
const MAGIC: HeaderField = (257, 8);

/// What is in a header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EntryHeader {
    pub(crate) name: String,
    /// Bytes.
    pub(crate) size: u64,
}

/// The header of a file that only its owner reads; the time is in seconds since 1970. Names are the
/// program's own, of fewer than 100 bytes.
pub(crate) fn header(name: &str, size: u64, seconds: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    put(&mut block, NAME, name.as_bytes());
    put(&mut block, MODE, b"0000600");
    put(&mut block, OWNER, b"0000000");
    put(&mut block, GROUP, b"0000000");
    put(&mut block, SIZE, format!("{size:011o}").as_bytes());
    put(&mut block, TIME, format!("{seconds:011o}").as_bytes());
    block[KIND] = b'0';
    put(&mut block, MAGIC, b"ustar\x0000");
    let sum = format!("{:06o}\0 ", sum(&block));
    put(&mut block, SUM, sum.as_bytes());
    block
}

/// Reads a header; `None` is the end of the tar file.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn parse(block: &[u8]) -> Result<Option<EntryHeader>, &'static str> {
    if block.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    if !field(block, MAGIC).starts_with(b"ustar") {
        return Err("there is no header of a tar file");
    }
    let written = octal(field(block, SUM)).ok_or("a header has no checksum")?;
    if written != u64::from(sum(block)) {
        return Err("a header has another checksum");
    }
    let name = field(block, NAME);
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    let name = std::str::from_utf8(&name[..end]).map_err(|_| "a name is no text")?;
    let size = octal(field(block, SIZE)).ok_or("a header has no size")?;
    Ok(Some(EntryHeader { name: name.to_owned(), size }))
}

/// How many bytes follow `size` bytes up to the next block.
pub(crate) fn padding(size: u64) -> usize {
    let over = usize::try_from(size % BLOCK as u64).unwrap_or(0);
    if over == 0 { 0 } else { BLOCK - over }
}

fn put(block: &mut [u8], (start, length): HeaderField, value: &[u8]) {
    let length = length.min(value.len());
    block[start..start + length].copy_from_slice(&value[..length]);
}

fn field(block: &[u8], (start, length): HeaderField) -> &[u8] {
    block.get(start..start + length).unwrap_or_default()
}

/// The sum of all bytes, where those of the sum itself count as spaces.
fn sum(block: &[u8]) -> u32 {
    let (start, length) = SUM;
    let counted = |(at, byte): (usize, &u8)| {
        u32::from(if (start..start + length).contains(&at) { b' ' } else { *byte })
    };
    block.iter().enumerate().map(counted).sum()
}

fn octal(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?.trim_matches(['\0', ' ']);
    u64::from_str_radix(text, 8).ok()
}
