//! The header block: fields, folding, and what is in their place in broken mail.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::limits;
use crate::lines;
use crate::warnings::{Fault, ParseWarnings};

/// A header field as sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    /// Printable ASCII.
    pub(crate) name: &'a str,
    /// What follows the colon, still folded.
    pub(crate) value: &'a [u8],
}

/// A header block.
#[derive(Debug, Default)]
pub(crate) struct Block<'a> {
    pub(crate) fields: Vec<Field<'a>>,
    /// Where the body starts.
    pub(crate) body: usize,
    pub(crate) faults: ParseWarnings,
}

/// Fields without which nobody would take lines of prose for a header.
const COMMON: &[&str] = &[
    "from",
    "to",
    "subject",
    "date",
    "received",
    "return-path",
    "message-id",
    "mime-version",
    "content-type",
    "content-disposition",
    "content-transfer-encoding",
];

/// Reads the header block at `at`. It ends at an empty line, at a line for which `ends` holds, or
/// with the message; lines that are not fields are passed over.
pub(crate) fn block(
    raw: &[u8],
    at: usize,
    terminator: u8,
    ends: impl Fn(&[u8]) -> bool,
) -> Block<'_> {
    let mut reader = Reader { raw, ..Reader::default() };
    let mut start = after_mbox_line(raw, at, terminator);
    let mut closed = false;
    while start < raw.len() {
        let (line, next) = lines::line(raw, start, terminator);
        if line.starts_with(b"--") && ends(line) {
            closed = true;
            break;
        }
        if line.is_empty() {
            closed = true;
            start = next;
            break;
        }
        reader.line(line, start);
        start = next;
    }
    reader.finish(at, start, closed)
}

/// Mailbox files start a message with a `From ` line (RFC 4155), sometimes left in by mistake.
fn after_mbox_line(raw: &[u8], at: usize, terminator: u8) -> usize {
    let (line, next) = lines::line(raw, at, terminator);
    let is_mbox = line.starts_with(b"From ") || line.starts_with(b">From ");
    if is_mbox && name_length(line).is_none() { next } else { at }
}

#[derive(Default)]
struct Reader<'a> {
    raw: &'a [u8],
    fields: Vec<Field<'a>>,
    /// The value of the last field, while more lines may be folded into it.
    open: Option<usize>,
    /// The first line that is no field, and how many fields came before.
    garbage: Option<(usize, usize)>,
    faults: ParseWarnings,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a [u8], start: usize) {
        if matches!(line[0], b' ' | b'\t') && !(self.fields.is_empty() && self.open.is_none()) {
            if let (Some(value), Some(field)) = (self.open, self.fields.last_mut()) {
                field.value = &self.raw[value..start + line.len()];
            }
        } else if let Some(length) = name_length(line) {
            self.field(line, start, length);
        } else {
            self.garbage.get_or_insert((start, self.fields.len()));
            self.open = None;
        }
    }

    fn field(&mut self, line: &'a [u8], start: usize, length: usize) {
        if self.fields.len() == limits::FIELDS {
            self.faults.add(Fault::TooManyHeaders);
            self.open = None;
            return;
        }
        let colon = memchr(b':', line).unwrap_or(length);
        let name = std::str::from_utf8(&line[..length]).unwrap_or_default();
        self.fields.push(Field { name, value: &line[colon + 1..] });
        self.open = Some(start + colon + 1);
    }

    fn finish(mut self, at: usize, body: usize, closed: bool) -> Block<'a> {
        self.faults.add_if(self.garbage.is_some(), Fault::MalformedHeader);
        let common = |field: &Field<'_>| COMMON.iter().any(|c| field.name.eq_ignore_ascii_case(c));
        match self.garbage {
            Some((_, 0)) if !self.fields.iter().any(common) => {
                Block { fields: Vec::new(), body: at, faults: self.faults }
            }
            Some((start, before)) if !closed => {
                self.fields.truncate(before);
                Block { fields: self.fields, body: start, faults: self.faults }
            }
            _ => Block { fields: self.fields, body, faults: self.faults },
        }
    }
}

/// The length of the field name that `line` starts with (RFC 5322, sections 2.2 and 4.5: white
/// space may precede the colon).
fn name_length(line: &[u8]) -> Option<usize> {
    let length = line.iter().position(|byte| !(byte.is_ascii_graphic() && *byte != b':'))?;
    let rest = line[length..].trim_ascii_start();
    (length > 0 && rest.first() == Some(&b':')).then_some(length)
}

/// The value of the first field called `name`.
pub(crate) fn first<'a>(fields: &[Field<'a>], name: &str) -> Option<&'a [u8]> {
    fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
}

/// Fields that RFC 5322, section 3.6 and RFC 2045, section 3 allow once.
const SINGLE: &[&str] = &[
    "from",
    "sender",
    "reply-to",
    "to",
    "cc",
    "bcc",
    "subject",
    "date",
    "message-id",
    "in-reply-to",
    "references",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "content-disposition",
    "content-id",
];

/// The faults of a message's own header.
pub(crate) fn faults(fields: &[Field<'_>]) -> ParseWarnings {
    let mut faults = ParseWarnings::default();
    let mut seen = [false; SINGLE.len()];
    for field in fields {
        faults.add_if(!field.value.is_ascii(), Fault::EightBitHeader);
        faults.add_if(field.value.len() > limits::FIELD_VALUE, Fault::HeaderTooLong);
        if let Some(at) = SINGLE.iter().position(|name| field.name.eq_ignore_ascii_case(name)) {
            faults.add_if(std::mem::replace(&mut seen[at], true), Fault::RepeatedHeader);
        }
    }
    faults
}

/// A value with its folding undone (RFC 5322, section 2.2.3), trimmed and bounded.
pub(crate) fn unfold(value: &[u8]) -> Cow<'_, [u8]> {
    let value = value[..value.len().min(limits::FIELD_VALUE)].trim_ascii();
    if memchr2(b'\r', b'\n', value).is_none() {
        return Cow::Borrowed(value);
    }
    let mut out = Vec::with_capacity(value.len());
    for (at, byte) in value.iter().enumerate() {
        let next = value.get(at + 1);
        match byte {
            b'\n' => {}
            b'\r' if matches!(next, Some(b'\r' | b'\n' | b' ' | b'\t')) => {}
            b'\r' => out.push(b' '),
            other => out.push(*other),
        }
    }
    Cow::Owned(out)
}
