//! Bounds on what one message can make this package do. Beyond them a warning is given; the raw
//! message stays whole.

/// Leaves that a message is split into; the last one keeps what follows.
pub(crate) const PARTS: usize = 1_000;
/// Attachments listed and counted.
pub(crate) const ATTACHMENTS: usize = 500;
/// Multiparts within multiparts; a deeper one is an attachment.
pub(crate) const DEPTH: usize = 50;
/// Header fields listed.
pub(crate) const FIELDS: usize = 10_000;
/// Bytes of one field's value that are decoded.
pub(crate) const FIELD_VALUE: usize = 128 * 1024;
/// Characters of a file name.
pub(crate) const FILENAME: usize = 255;
/// Bytes of a boundary; RFC 2046, section 5.1.1 says 70.
pub(crate) const BOUNDARY: usize = 250;
/// Bytes of HTML that are rewritten for the preview or searched for links.
pub(crate) const HTML: usize = 2 * 1024 * 1024;
/// Bytes of text that are searched for codes and bare links.
pub(crate) const EXTRACTION: usize = 256 * 1024;
/// Links listed.
pub(crate) const LINKS: usize = 1_000;
/// Codes listed.
pub(crate) const CODES: usize = 20;
/// Characters of the snippet.
pub(crate) const SNIPPET: usize = 140;
/// Characters of a line without its end (RFC 5322, section 2.1.1).
pub(crate) const LINE: usize = 998;

/// At most `bytes` of `text`, cut between characters.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
