//! Charsets: the labels of the WHATWG encoding standard and those that mail has besides.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use mail_parser::decoders::charsets::{DecoderFnc, map::charset_decoder};

use crate::iso2022;
use crate::utf7;

/// How the bytes of a text become characters.
#[derive(Clone, Copy)]
pub(crate) enum Charset {
    /// Nothing that could be relied on is named: see [`guess`].
    Undeclared,
    /// A label that nobody knows; decoded as if there were none.
    Unknown,
    /// A WHATWG encoding.
    Standard(&'static Encoding),
    /// An encoding that only mail uses.
    Other(DecoderFnc),
}

/// The charset called `label`. `us-ascii` says nothing about 8-bit bytes.
pub(crate) fn find(label: &[u8]) -> Charset {
    let label = label.trim_ascii().to_ascii_lowercase();
    match label.as_slice() {
        b"" | b"us-ascii" | b"ascii" | b"ansi_x3.4-1968" => Charset::Undeclared,
        b"utf-7" | b"utf7" | b"unicode-1-1-utf-7" | b"csutf7" => Charset::Other(utf7::decode),
        b"iso-2022-jp" | b"csiso2022jp" => Charset::Standard(encoding_rs::ISO_2022_JP),
        other if other.starts_with(b"iso-2022-") || other.starts_with(b"csiso2022") => {
            Charset::Other(iso2022::decode)
        }
        b"hz-gb-2312" => Charset::Other(iso2022::decode_hz),
        b"cp932" => Charset::Standard(encoding_rs::SHIFT_JIS),
        b"cp949" | b"ms949" => Charset::Standard(encoding_rs::EUC_KR),
        b"cp950" => Charset::Standard(encoding_rs::BIG5),
        b"cp65001" | b"utf8mb4" => Charset::Standard(UTF_8),
        other => standard(other),
    }
}

/// The charset that an HTML names in itself. It was read as ASCII, so it is not UTF-16 (HTML Living
/// Standard, section 13.2.3.2).
pub(crate) fn find_in_html(label: &[u8]) -> Charset {
    match find(label) {
        Charset::Standard(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => {
            Charset::Standard(UTF_8)
        }
        charset => charset,
    }
}

fn standard(label: &[u8]) -> Charset {
    match Encoding::for_label_no_replacement(label) {
        Some(encoding) => Charset::Standard(encoding),
        None => charset_decoder(label).map_or(Charset::Unknown, Charset::Other),
    }
}

/// Decodes `bytes`; bytes that the charset lacks become U+FFFD, or windows-1252 within UTF-8.
pub(crate) fn decode(charset: Charset, bytes: &[u8]) -> Cow<'_, str> {
    match charset {
        Charset::Undeclared | Charset::Unknown => guess(bytes),
        Charset::Standard(encoding) if encoding == UTF_8 => utf8(without_mark(bytes)),
        Charset::Standard(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => {
            encoding.decode(bytes).0
        }
        Charset::Standard(encoding) => encoding.decode_without_bom_handling(bytes).0,
        Charset::Other(decode) => Cow::Owned(decode(bytes)),
    }
}

/// Text of no known charset: UTF-8 where valid, otherwise windows-1252, which has all 256 bytes.
pub(crate) fn guess(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(without_mark(bytes)) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// UTF-8 in which a wrong byte is shown as windows-1252 rather than lost.
fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() + bytes.len() / 8);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.push_str(&WINDOWS_1252.decode_without_bom_handling(chunk.invalid()).0);
    }
    Cow::Owned(out)
}
