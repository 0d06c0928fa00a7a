//! ISO-2022-KR, -CN and the extended -JP forms, which the WHATWG standard leaves out, and HZ.
//!
//! Runs of 7-bit bytes are set to 8 bits and handed to the EUC encoding of the set that they were
//! designated to. CNS 11643 and JIS X 0213 plane 2 have no such encoding and become U+FFFD.

use encoding_rs::{EUC_JP, EUC_KR, Encoding, GBK};

/// A coded character set that an escape sequence designates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Set {
    Ascii,
    Katakana,
    Jis,
    JisSupplement,
    Gb,
    Korean,
    Unmapped,
}

/// Escape sequences without their ESC: what they designate, and whether to the shifted set (G1).
const DESIGNATIONS: &[(&[u8], Set, bool)] = &[
    (b"(B", Set::Ascii, false),
    (b"(J", Set::Ascii, false),
    (b"(I", Set::Katakana, false),
    (b"$@", Set::Jis, false),
    (b"$B", Set::Jis, false),
    (b"$(Q", Set::Jis, false),
    (b"$(O", Set::Jis, false),
    (b"$(P", Set::Unmapped, false),
    (b"$(D", Set::JisSupplement, false),
    (b"$A", Set::Gb, false),
    (b"$(A", Set::Gb, false),
    (b"$(C", Set::Korean, false),
    (b"$)C", Set::Korean, true),
    (b"$)A", Set::Gb, true),
    (b"$)G", Set::Unmapped, true),
    (b"$*H", Set::Unmapped, true),
];

const ESCAPE: u8 = 0x1B;
const SHIFT_OUT: u8 = 0x0E;
const SHIFT_IN: u8 = 0x0F;

/// Decodes any ISO-2022 text (RFC 1554, RFC 1557, RFC 1922).
pub(crate) fn decode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let (mut plain, mut shifted, mut is_shifted) = (Set::Ascii, Set::Korean, false);
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| matches!(*byte, ESCAPE | SHIFT_OUT | SHIFT_IN));
        run(if is_shifted { shifted } else { plain }, &rest[..end.unwrap_or(rest.len())], &mut out);
        let Some(end) = end else { break };
        let control = rest[end];
        rest = &rest[end + 1..];
        if control != ESCAPE {
            is_shifted = control == SHIFT_OUT;
        } else if let Some((code, set, to_shifted)) =
            DESIGNATIONS.iter().find(|(code, ..)| rest.starts_with(code))
        {
            *(if *to_shifted { &mut shifted } else { &mut plain }) = *set;
            rest = &rest[code.len()..];
        }
    }
    out
}

fn run(set: Set, bytes: &[u8], out: &mut String) {
    // Designations hold to the end of the line; a line end is ASCII in any case.
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match set {
            Set::Ascii => out.push_str(&crate::charset::guess(line)),
            Set::Katakana => one_by_one(line, out),
            Set::Jis => pairs(EUC_JP, &[], line, out),
            Set::JisSupplement => pairs(EUC_JP, &[0x8F], line, out),
            Set::Gb => pairs(GBK, &[], line, out),
            Set::Korean => pairs(EUC_KR, &[], line, out),
            Set::Unmapped => out.extend(line.chunks(2).map(|_| char::REPLACEMENT_CHARACTER)),
        }
    }
}

/// Halfwidth katakana follow U+FF60 in the order of JIS X 0201.
fn one_by_one(bytes: &[u8], out: &mut String) {
    out.extend(bytes.iter().map(|byte| match byte {
        0x21..=0x5F => char::from_u32(0xFF60 + u32::from(byte - 0x20)).unwrap_or(' '),
        other => char::from(*other),
    }));
}

fn pairs(encoding: &'static Encoding, prefix: &[u8], bytes: &[u8], out: &mut String) {
    let mut euc = Vec::with_capacity(bytes.len() * 3 / 2);
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        match tail {
            [second, tail @ ..] if (0x21..=0x7E).contains(first) => {
                euc.extend_from_slice(prefix);
                euc.extend([first | 0x80, second | 0x80]);
                rest = tail;
            }
            _ => {
                euc.push(*first);
                rest = tail;
            }
        }
    }
    out.push_str(&encoding.decode_without_bom_handling(&euc).0);
}

/// Decodes HZ (RFC 1843): `~{` and `~}` around 7-bit GB 2312.
pub(crate) fn decode_hz(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let (mut set, mut start, mut at) = (Set::Ascii, 0, 0);
    while let Some(found) = memchr::memchr(b'~', &bytes[at..]) {
        at += found;
        let (next, kept) = match bytes.get(at + 1) {
            Some(b'{') => (Set::Gb, 0),
            Some(b'}') => (Set::Ascii, 0),
            Some(b'~') => (set, 1),
            Some(b'\n') => (set, 0),
            _ => {
                at += 1;
                continue;
            }
        };
        run(set, &bytes[start..at + kept], &mut out);
        (set, start, at) = (next, at + 2, at + 2);
    }
    run(set, &bytes[start..], &mut out);
    out
}
