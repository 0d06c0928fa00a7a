//! A caught message as it goes on: every byte of it, behind a few fields that say how it got there.
//!
//! What SMTP cannot carry as it is goes as an attachment. Nothing is mended: a tester wants to see what
//! the application sent.

use bytes::Bytes;

use super::history::FORWARDED_HEADER;
use crate::mail::{base64_lines, encode_header_text};

/// Bytes of a line without its end (RFC 5322, section 2.1.1).
const MAX_LINE: usize = 998;
/// Fields that are of the way before, or name people who are not to be known. Some relays read them
/// and write to whom they name.
const STRIPPED: [&str; 3] = ["Bcc", "Resent-Bcc", "Return-Path"];

/// Values of the header fields that are added to a forwarded message.
#[derive(Debug, Clone)]
pub(super) struct ForwardHeaders {
    /// The mailbox of this service, for `Resent-From` or `From`.
    pub(super) from: String,
    /// The recipient's address.
    pub(super) to: String,
    /// The date, as RFC 5322, section 3.3, has it.
    pub(super) date: String,
    /// The message id, with angle brackets.
    pub(super) message_id: String,
    /// The boundary of the message that holds another one as an attachment.
    pub(super) boundary: String,
    /// The value of [`FORWARDED_HEADER`].
    pub(super) mark: String,
}

/// A message as the relay gets it.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) content: Vec<Bytes>,
    pub(super) utf8_header: bool,
    /// Whether it is the message itself, and not one that holds it.
    pub(super) is_whole: bool,
}

/// The message with what RFC 5322, section 3.6.6, wants of whoever sends a message again; or, if it
/// cannot be sent as it is, a message that holds it.
pub(super) fn rewrite_for_forward(raw: &Bytes, headers: &ForwardHeaders) -> Rewritten {
    if !fits_smtp(raw) {
        return wrap_as_attachment(raw, headers);
    }
    let ForwardHeaders { from, to, date, message_id, mark, .. } = headers;
    let mut head = format!(
        "{FORWARDED_HEADER}: {mark}\r\nResent-Date: {date}\r\nResent-From: {from}\r\n\
         Resent-To: {to}\r\nResent-Message-ID: {message_id}\r\n"
    )
    .into_bytes();
    // The field may be there once only (RFC 3834, section 5).
    if !fields(raw).any(|field| field.is_named("Auto-Submitted")) {
        head.extend_from_slice(b"Auto-Submitted: auto-forwarded\r\n");
    }
    let mut length = 0;
    for field in fields(raw) {
        length += field.0.len();
        if !STRIPPED.iter().any(|name| field.is_named(name)) {
            head.extend_from_slice(field.0);
        }
    }
    let utf8_header = !head.is_ascii();
    let content = vec![head.into(), raw.slice(length..)];
    Rewritten { content, utf8_header, is_whole: true }
}

/// A message of our own that holds the caught one. It is a `message/rfc822` if that can travel as it
/// is; that type allows no encoding (RFC 2046, section 5.2.1), so anything else goes as a file.
pub(super) fn wrap_as_attachment(raw: &Bytes, headers: &ForwardHeaders) -> Rewritten {
    let ForwardHeaders { from, to, date, message_id, mark, boundary } = headers;
    let subject = encode_header_text(&format!("Forwarded: {}", trapline_mime::digest(raw).subject));
    let head = format!(
        "{FORWARDED_HEADER}: {mark}\r\nFrom: {from}\r\nTo: {to}\r\nSubject: {subject}\r\n\
         Date: {date}\r\nMessage-ID: {message_id}\r\nAuto-Submitted: auto-forwarded\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed;\r\n boundary=\"{boundary}\"\r\n\r\n\
         --{boundary}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\
         A test inbox caught the attached message, which could not be sent as it is.\r\n\r\n\
         --{boundary}\r\n"
    );
    let named = "Content-Disposition: attachment; filename=\"message.eml\"\r\n";
    let tail = Bytes::from(format!("\r\n--{boundary}--\r\n"));
    let content = if fits_smtp(raw) && raw.is_ascii() {
        let part = format!("{head}Content-Type: message/rfc822\r\n{named}\r\n");
        vec![part.into(), raw.clone(), tail]
    } else {
        let part = format!(
            "{head}Content-Type: application/octet-stream; name=\"message.eml\"\r\n{named}\
             Content-Transfer-Encoding: base64\r\n\r\n"
        );
        vec![part.into(), base64_lines(raw).into(), tail]
    };
    Rewritten { content, utf8_header: false, is_whole: false }
}

/// Whether SMTP carries the bytes unchanged (RFC 5321, section 2.3.8): each line ends with CRLF and
/// is short enough, and no NUL or lone CR or LF is there that one server takes for the end of a line
/// and another does not.
fn fits_smtp(raw: &[u8]) -> bool {
    if raw.first().is_none_or(|byte| b" \t".contains(byte)) || memchr::memchr(0, raw).is_some() {
        // A first line that continues nothing would continue our own field.
        return false;
    }
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', raw) {
        let Some(line) = raw[start..end].strip_suffix(b"\r") else { return false };
        if line.len() > MAX_LINE || memchr::memchr(b'\r', line).is_some() {
            return false;
        }
        start = end + 1;
    }
    let last = &raw[start..];
    last.len() <= MAX_LINE && memchr::memchr(b'\r', last).is_none()
}

/// A field with its continuation lines and their ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a>(&'a [u8]);

impl Field<'_> {
    pub(super) fn is_named(&self, name: &str) -> bool {
        let colon = memchr::memchr(b':', self.0).unwrap_or(0);
        self.0[..colon].trim_ascii_end().eq_ignore_ascii_case(name.as_bytes())
    }

    /// What is behind the colon, on one line.
    pub(super) fn value(&self) -> String {
        let colon = memchr::memchr(b':', self.0).map_or(self.0.len(), |colon| colon + 1);
        String::from_utf8_lossy(&self.0[colon..]).replace(['\r', '\n'], "").trim().to_owned()
    }
}

/// The fields of a message's header, up to the empty line or the end.
pub(super) fn fields(raw: &[u8]) -> impl Iterator<Item = Field<'_>> {
    let mut rest = raw;
    std::iter::from_fn(move || {
        let mut length = line_len(rest);
        if rest.is_empty() || rest.starts_with(b"\r\n") || rest.starts_with(b"\n") {
            return None;
        }
        while rest.get(length).is_some_and(|byte| b" \t".contains(byte)) {
            length += line_len(&rest[length..]);
        }
        let (field, after) = rest.split_at(length);
        rest = after;
        Some(Field(field))
    })
}

/// Bytes of the first line, with its end.
fn line_len(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests;
