//! Content-Transfer-Encoding (RFC 2045, section 6), decoded so that no byte is lost.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr2};

use crate::uuencode;

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Transfer {
    /// `7bit`, `8bit` and `binary`: as it is.
    #[default]
    Identity,
    Base64,
    QuotedPrintable,
    /// `x-uuencode`, from before MIME.
    Uuencode,
    /// Anything else, taken as it is.
    Unknown,
}

impl Transfer {
    /// Reads the field's value.
    pub(crate) fn read(value: &[u8]) -> Self {
        let is_end = |byte: &u8| matches!(byte, b';' | b'(' | b' ' | b'\t' | b'\r' | b'\n');
        let value = value.trim_ascii();
        let value = &value[..value.iter().position(is_end).unwrap_or(value.len())];
        let token: Vec<u8> =
            value.iter().filter(|b| **b != b'"').map(u8::to_ascii_lowercase).collect();
        match token.as_slice() {
            b"" | b"7bit" | b"8bit" | b"binary" | b"7-bit" | b"8-bit" | b"8bits" | b"7bits" => {
                Self::Identity
            }
            b"base64" | b"b" => Self::Base64,
            b"quoted-printable" | b"q" => Self::QuotedPrintable,
            b"x-uuencode" | b"uuencode" | b"x-uue" | b"uue" | b"x-uu" => Self::Uuencode,
            _ => Self::Unknown,
        }
    }

    /// The bytes of `body`.
    pub(crate) fn decode(self, body: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Identity | Self::Unknown => Cow::Borrowed(body),
            Self::Base64 => Cow::Owned(base64(body)),
            Self::QuotedPrintable => Cow::Owned(quoted_printable(&without_padding(body))),
            Self::Uuencode => uuencode::decode(body).map_or(Cow::Borrowed(body), Cow::Owned),
        }
    }
}

const SKIP: u8 = 0xFF;
const PADDING: u8 = 0xFE;
/// CR, LF, blank and tab: skipped without being a fault.
const SPACE: u8 = 0xFD;
/// The lowest of the values above.
const SPECIAL: u8 = 0xFD;

/// The value of each byte; the URL-safe alphabet is taken too.
const SEXTETS: [u8; 256] = {
    let mut table = [SKIP; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut at = 0u8;
    while at < 64 {
        table[alphabet[at as usize] as usize] = at;
        at += 1;
    }
    table[b'-' as usize] = 62;
    table[b'_' as usize] = 63;
    table[b'=' as usize] = PADDING;
    table[b' ' as usize] = SPACE;
    table[b'\t' as usize] = SPACE;
    table[b'\r' as usize] = SPACE;
    table[b'\n' as usize] = SPACE;
    table
};

/// Decodes base64: other bytes are skipped, a last group without padding is kept, and what follows
/// padding counts if it is base64 too (bodies joined from padded pieces) but not if it is prose (a
/// list's footer).
pub(crate) fn base64(encoded: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(encoded.len() / 4 * 3 + 3);
    let mut rest = encoded;
    let mut checked = false;
    while !rest.is_empty() {
        let used = group_run(rest, &mut out);
        rest = &rest[used..];
        if !checked && rest.iter().any(|byte| SEXTETS[usize::from(*byte)] == SKIP) {
            break;
        }
        checked = true;
    }
    out
}

/// Decodes up to the first padding and says how much was used.
fn group_run(encoded: &[u8], out: &mut Vec<u8>) -> usize {
    let (mut group, mut held) = (0u32, 0u32);
    let mut used = encoded.len();
    for (at, byte) in encoded.iter().enumerate() {
        let sextet = SEXTETS[usize::from(*byte)];
        if sextet < SPECIAL {
            group = group << 6 | u32::from(sextet);
            held += 1;
            if held == 4 {
                out.extend_from_slice(&group.to_be_bytes()[1..]);
                (group, held) = (0, 0);
            }
        } else if sextet == PADDING && held > 1 {
            used = at + 1;
            break;
        }
    }
    let last = (group << (6 * (4 - held) % 24)).to_be_bytes();
    out.extend_from_slice(&last[1..=held.saturating_sub(1) as usize]);
    used
}

/// Whether `encoded` is base64 to the letter (line breaks and blanks aside). It runs over whole
/// attachments on the receiving path, hence without a branch per byte.
pub(crate) fn is_clean_base64(encoded: &[u8]) -> bool {
    let (data, tail) = encoded.split_at(memchr(b'=', encoded).unwrap_or(encoded.len()));
    let (mut held, mut strays) = (0usize, 0usize);
    for byte in data {
        let sextet = SEXTETS[usize::from(*byte)];
        held += usize::from(sextet < SPECIAL);
        strays += usize::from(sextet == SKIP);
    }
    let padding = memchr_iter(b'=', tail).count();
    strays == 0
        && memchr2(b'-', b'_', data).is_none()
        && tail.iter().all(|byte| matches!(SEXTETS[usize::from(*byte)], PADDING | SPACE))
        && padding <= 2
        && (held + padding).is_multiple_of(4)
}

/// Decodes quoted-printable (RFC 2045, section 6.7): an equals sign that encodes nothing stays.
pub(crate) fn quoted_printable(encoded: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let Some(at) = memchr(b'=', rest) {
        out.extend_from_slice(&rest[..at]);
        let after = &rest[at + 1..];
        rest = if let Some(byte) = hex_pair(after) {
            out.push(byte);
            &after[2..]
        } else if let Some(length) = soft_break(after) {
            &after[length..]
        } else {
            out.push(b'=');
            after
        };
    }
    out.extend_from_slice(rest);
    out
}

/// `encoded` without the blanks at the ends of its lines: a transport put them there (RFC 2045,
/// section 6.7, rule 3).
fn without_padding(encoded: &[u8]) -> Cow<'_, [u8]> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let is_padded = |pair: &[u8]| is_blank(&pair[0]) && is_end(&pair[1]);
    if !encoded.last().is_some_and(is_blank) && !encoded.windows(2).any(is_padded) {
        return Cow::Borrowed(encoded);
    }
    let mut out = Vec::with_capacity(encoded.len());
    // Where the blanks start that the bytes taken so far end in.
    let mut kept = 0;
    for byte in encoded {
        if is_end(byte) {
            out.truncate(kept);
        }
        out.push(*byte);
        if !is_blank(byte) {
            kept = out.len();
        }
    }
    out.truncate(kept);
    Cow::Owned(out)
}

/// Whether every equals sign of `encoded` is an encoded byte or a soft break.
pub(crate) fn is_clean_quoted_printable(encoded: &[u8]) -> bool {
    memchr_iter(b'=', encoded).all(|at| {
        let after = &encoded[at + 1..];
        hex_pair(after).is_some() || soft_break(after).is_some()
    })
}

/// The length of a line end, with blanks before it that a transport may have added.
fn soft_break(after: &[u8]) -> Option<usize> {
    // Bounded, so that many equals signs before many blanks stay linear.
    let blank = after.iter().take(1_000).take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    match after.get(blank) {
        Some(b'\n') => Some(blank + 1),
        None => Some(blank),
        // A message whose lines end by CR alone.
        Some(_) if blank > 0 && after[..blank].ends_with(b"\r") => Some(blank),
        Some(_) => None,
    }
}

/// The byte that two hex digits at the start of `text` stand for.
pub(crate) fn hex_pair(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}

/// `text` with its `%XX` decoded (RFC 3986, section 2.1).
pub(crate) fn percent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match hex_pair(tail) {
            Some(byte) if *first == b'%' => {
                out.push(byte);
                rest = &tail[2..];
            }
            _ => out.push(*first),
        }
    }
    out
}
