//! Checks of a message: what a spam filter says of it, and what people can do about mail they do not want.
//!
//! Pure functions: the bytes of a message and a time in, a record out. No I/O, no clock, nothing learnt.

pub mod html;
pub mod links;
#[cfg(test)]
mod pages;
mod sites;
pub mod spam;
pub mod unsubscribe;
mod words;

/// Bytes of HTML that are checked: the first part of a longer one.
const HTML: usize = 2 << 20;
/// Bytes of text that are checked.
const TEXT: usize = 256 << 10;
/// Parts with a file name, or offered for download, that are checked.
const FILES: usize = 500;

/// How many DKIM signatures a message has.
#[must_use]
pub fn signatures(raw: &[u8]) -> usize {
    trapline_mime::View::read(raw).fields("DKIM-Signature").count()
}

/// At most `bytes` of `text`, cut between characters.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
