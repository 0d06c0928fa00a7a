//! What a part's header says of its body.

use std::borrow::Cow;

use crate::charset::{self, Charset};
use crate::fields::{self, Field};
use crate::flowed;
use crate::limits;
use crate::lines;
use crate::meta_charset;
use crate::names;
use crate::params::{self, Value};
use crate::structure::Leaf;
use crate::transfer::{self, Transfer};
use crate::uuencode;
use crate::warnings::{Fault, ParseWarnings};
use crate::words;

/// The MIME fields of a part (RFC 2045, RFC 2183).
#[derive(Debug)]
pub(crate) struct Head {
    content_type: Value,
    disposition: Value,
    transfer: Transfer,
    content_id: Option<String>,
}

impl Head {
    /// Reads a header block; `default` is the media type of a part that names none.
    pub(crate) fn read(fields: &[Field<'_>], default: &str) -> (Self, ParseWarnings) {
        let value = |name: &str| fields::first(fields, name);
        let mut faults = ParseWarnings::default();
        let mut content_type = value("content-type").map(Value::read).unwrap_or_default();
        if !is_media_type(&content_type.token) {
            faults.add_if(value("content-type").is_some(), Fault::BadContentType);
            default.clone_into(&mut content_type.token);
        }
        let transfer = value("content-transfer-encoding").map(Transfer::read).unwrap_or_default();
        let is_multipart = content_type.token.starts_with("multipart/");
        faults.add_if(
            transfer == Transfer::Unknown || (is_multipart && transfer != Transfer::Identity),
            Fault::BadEncoding,
        );
        let disposition = value("content-disposition").map(Value::read).unwrap_or_default();
        let content_id = value("content-id").map(content_id).filter(|id| !id.is_empty());
        let head = Self { content_type, disposition, transfer, content_id };
        (head, faults)
    }

    /// The head of a multipart that turned out to be a text. An encoding is not allowed on a
    /// multipart, so it does not count.
    pub(crate) fn into_text(self) -> Self {
        let content_type = Value { token: "text/plain".into(), ..self.content_type };
        Self { content_type, transfer: Transfer::Identity, ..self }
    }

    pub(crate) fn media_type(&self) -> &str {
        &self.content_type.token
    }

    pub(crate) fn boundary(&self) -> Option<&[u8]> {
        self.content_type.param("boundary").map(<[u8]>::trim_ascii).filter(|name| !name.is_empty())
    }

    pub(crate) fn content_id(&self) -> Option<&str> {
        self.content_id.as_deref()
    }

    /// Whether the sender wants the part offered for download (RFC 2183, section 2.2: an unknown
    /// disposition counts as `attachment`).
    pub(crate) fn is_attachment(&self) -> bool {
        !matches!(self.disposition.token.as_str(), "" | "inline")
    }

    /// Whether the part is shown within the message.
    pub(crate) fn is_inline(&self) -> bool {
        match self.disposition.token.as_str() {
            "inline" => true,
            "" => self.content_id.is_some(),
            _ => false,
        }
    }

    /// The charset that the Content-Type names.
    fn charset(&self) -> Charset {
        let extended = || names::extended(&self.content_type, "charset").unwrap_or_default();
        let label = self.content_type.param("charset").map(<[u8]>::to_vec);
        charset::find(params::word(&label.unwrap_or_else(|| extended().into_bytes())))
    }

    fn is_html(&self) -> bool {
        self.media_type() == "text/html"
    }

    /// Whether soft line breaks are within words (RFC 3676, section 4.1).
    fn breaks_words(&self) -> bool {
        let is = |name: &str, expected: &str| {
            let value = self.content_type.param(name).map(params::word);
            value.is_some_and(|value| value.eq_ignore_ascii_case(expected.as_bytes()))
        };
        self.media_type() == "text/plain" && is("format", "flowed") && is("delsp", "yes")
    }
}

fn is_media_type(token: &str) -> bool {
    token.split_once('/').is_some_and(|(kind, name)| !kind.is_empty() && !name.is_empty())
}

fn content_id(value: &[u8]) -> String {
    let text = words::decode(value).text;
    text.trim().trim_start_matches('<').trim_end_matches('>').to_owned()
}

impl Leaf<'_> {
    /// The file name as listed, and whether it was cut.
    pub(crate) fn filename(&self) -> (String, bool) {
        let mut name = names::of_part(&self.head.disposition, &self.head.content_type);
        if name.is_empty() && self.head.transfer == Transfer::Uuencode {
            let named = uuencode::filename(self.body).unwrap_or_default();
            name = charset::guess(&named[..named.len().min(limits::LINE)]).into_owned();
        }
        names::shorten(name)
    }

    /// Whether the part names a file.
    pub(crate) fn has_filename(&self) -> bool {
        !self.filename().0.is_empty()
    }

    /// Whether the part is a form of the body that stands beside others. Files and pictures that a
    /// sender put there by mistake are none.
    pub(crate) fn is_alternative(&self) -> bool {
        let is_text = self.head.media_type().starts_with("text/");
        let is_file = || self.has_filename() || self.head.content_id.is_some();
        self.place.is_alternative && !self.head.is_attachment() && (is_text || !is_file())
    }

    /// The exact decoded bytes.
    pub(crate) fn bytes(&self) -> Cow<'_, [u8]> {
        self.head.transfer.decode(self.body)
    }

    /// The beginning of the decoded bytes, from at most `length` bytes of the body.
    pub(crate) fn bytes_prefix(&self, length: usize) -> Cow<'_, [u8]> {
        self.head.transfer.decode(&self.body[..self.body.len().min(length)])
    }

    pub(crate) fn is_sent_in(&self, transfer: Transfer) -> bool {
        self.head.transfer == transfer
    }

    /// The text, with LF line ends.
    pub(crate) fn text(&self) -> String {
        self.characters(&self.bytes())
    }

    /// The beginning of the text, from at most `length` bytes of the body.
    pub(crate) fn text_prefix(&self, length: usize) -> String {
        if self.body.len() <= length {
            return self.text();
        }
        let bytes = self.head.transfer.decode(&self.body[..length]);
        self.characters(whole_characters(&bytes))
    }

    fn characters(&self, bytes: &[u8]) -> String {
        let text = charset::decode(self.charset(bytes), bytes).into_owned();
        let text = lines::to_lf(text);
        if self.head.breaks_words() { flowed::join(&text) } else { text }
    }

    /// The charset that the header names, or else that the HTML does.
    fn charset(&self, bytes: &[u8]) -> Charset {
        match self.head.charset() {
            Charset::Undeclared | Charset::Unknown if self.head.is_html() => {
                meta_charset::label(bytes)
                    .map_or_else(|| self.head.charset(), charset::find_in_html)
            }
            charset => charset,
        }
    }

    /// The faults of the body's encoding.
    pub(crate) fn faults(&self) -> ParseWarnings {
        match self.head.transfer {
            Transfer::Base64 if !transfer::is_clean_base64(self.body) => Fault::BadBase64.into(),
            Transfer::QuotedPrintable if !transfer::is_clean_quoted_printable(self.body) => {
                Fault::BadQuotedPrintable.into()
            }
            Transfer::Uuencode if !uuencode::is_whole(self.body) => Fault::BadUuencode.into(),
            _ => ParseWarnings::default(),
        }
    }

    /// As much of the body as may name a charset.
    fn start(&self) -> &[u8] {
        &self.body[..self.body.len().min(4 * meta_charset::PRESCAN)]
    }

    /// The faults of a part that is shown as text.
    pub(crate) fn text_faults(&self) -> ParseWarnings {
        let charset = match self.head.charset() {
            Charset::Undeclared => self.charset(&self.head.transfer.decode(self.start())),
            named => named,
        };
        match charset {
            Charset::Unknown => Fault::UnknownCharset.into(),
            Charset::Undeclared if !self.body.is_ascii() => Fault::EightBitWithoutCharset.into(),
            _ => ParseWarnings::default(),
        }
    }
}

/// `bytes` without a UTF-8 character that was cut at the end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let tail = bytes.iter().rev().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    let end = bytes.len() - tail;
    match end.checked_sub(1) {
        Some(lead) if bytes[lead] >= 0xC0 => &bytes[..lead],
        _ => bytes,
    }
}
