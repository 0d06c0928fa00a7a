//! uuencode (IEEE Std 1003.1, `uuencode`): lines of a length and groups of four characters, between
//! a `begin` and an `end` line.

use crate::lines;

/// The bytes of `body`, as far as its end is there; none when no `begin` line is.
pub(crate) fn decode(body: &[u8]) -> Option<Vec<u8>> {
    let mut lines = lines(body).skip_while(|line| begin(line).is_none());
    lines.next()?;
    let mut out = Vec::with_capacity(body.len() / 4 * 3);
    let mut missing = body.len();
    for line in lines.take_while(|line| *line != b"end") {
        data(line, &mut out, &mut missing);
    }
    Some(out)
}

/// The file name of the `begin` line of `body`, if it has one.
pub(crate) fn filename(body: &[u8]) -> Option<&[u8]> {
    lines(body).find_map(begin).map(<[u8]>::trim_ascii).filter(|name| !name.is_empty())
}

/// Whether `body` has its `begin` and its `end` line.
pub(crate) fn is_whole(body: &[u8]) -> bool {
    let mut lines = lines(body).skip_while(|line| begin(line).is_none());
    lines.any(|line| line == b"end")
}

fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let terminator = lines::terminator(body);
    body.split(move |byte| *byte == terminator).map(lines::trim_end)
}

/// The name in `begin 644 name`.
fn begin(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"begin ")?;
    let digits = rest.iter().take_while(|byte| (b'0'..=b'7').contains(byte)).count();
    ((3..=5).contains(&digits) && rest.get(digits) == Some(&b' ')).then(|| &rest[digits + 1..])
}

/// Decodes a line. `missing` bounds how many bytes may be made of characters that are not there:
/// a transport may have cut blanks, which stand for zeros, off its end.
fn data(line: &[u8], out: &mut Vec<u8>, missing: &mut usize) {
    let Some((first, data)) = line.split_first() else { return };
    let sextet = |byte: &u8| u32::from(byte.wrapping_sub(b' ') & 0x3F);
    let length = usize::try_from(sextet(first)).unwrap_or_default();
    let start = out.len();
    for group in data.chunks(4).take(length.div_ceil(3)) {
        let bits = (0..4).fold(0, |bits, at| bits << 6 | group.get(at).map_or(0, sextet));
        out.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    let wanted = start + length;
    let filled = wanted.saturating_sub(out.len()).min(*missing);
    *missing -= filled;
    out.resize(wanted.min(out.len() + filled), 0);
}
