//! File names: RFC 2231, then RFC 2047 in quotes, then raw 8-bit.

use crate::charset;
use crate::limits;
use crate::params::Value;
use crate::transfer;
use crate::words;

/// A part's file name, `""` when it has none: Content-Disposition's, or else Content-Type's.
/// Unbounded: see [`shorten`].
pub(crate) fn of_part(disposition: &Value, content_type: &Value) -> String {
    extended(disposition, "filename")
        .or_else(|| plain(disposition, "filename"))
        .or_else(|| extended(content_type, "name"))
        .or_else(|| plain(content_type, "name"))
        .unwrap_or_default()
}

/// The name cut to what is listed, and whether that took something away.
pub(crate) fn shorten(name: String) -> (String, bool) {
    match name.char_indices().nth(limits::FILENAME) {
        Some((at, _)) => (name[..at].to_owned(), true),
        None => (name, false),
    }
}

fn plain(value: &Value, name: &str) -> Option<String> {
    let text = value.param(name).filter(|text| !text.is_empty())?;
    Some(words::decode(text).text)
}

/// A piece of an RFC 2231 parameter.
struct Piece<'a> {
    index: usize,
    encoded: bool,
    text: &'a [u8],
}

/// `name*`, or `name*0`, `name*1*` … joined (RFC 2231, sections 3 and 4).
pub(crate) fn extended(value: &Value, name: &str) -> Option<String> {
    let mut pieces: Vec<Piece<'_>> = value
        .params
        .iter()
        .filter_map(|(key, text)| piece(key.strip_prefix(name)?.strip_prefix('*')?, text))
        .collect();
    pieces.sort_by_key(|piece| piece.index);
    pieces.dedup_by_key(|piece| piece.index);
    let first = pieces.first_mut()?;
    let label = if first.encoded { take_label(&mut first.text) } else { None };
    let encoded = pieces.iter().any(|piece| piece.encoded);
    let mut bytes = Vec::new();
    for piece in pieces {
        if piece.encoded {
            bytes.extend(transfer::percent(piece.text));
        } else {
            bytes.extend_from_slice(piece.text);
        }
    }
    Some(match label {
        Some(label) => charset::decode(charset::find(label), &bytes).into_owned(),
        None if encoded => charset::guess(&bytes).into_owned(),
        // Some senders split encoded words this way.
        None => words::decode(&bytes).text,
    })
}

fn piece<'a>(suffix: &str, text: &'a [u8]) -> Option<Piece<'a>> {
    if suffix.is_empty() {
        return Some(Piece { index: 0, encoded: true, text });
    }
    let digits = suffix.strip_suffix('*').unwrap_or(suffix);
    Some(Piece { index: digits.parse().ok()?, encoded: digits.len() < suffix.len(), text })
}

/// Cuts `charset'language'` off.
fn take_label<'a>(text: &mut &'a [u8]) -> Option<&'a [u8]> {
    let label_end = memchr::memchr(b'\'', text)?;
    let language_end = label_end + 1 + memchr::memchr(b'\'', &text[label_end + 1..])?;
    let label = &text[..label_end];
    *text = &text[language_end + 1..];
    Some(label)
}
