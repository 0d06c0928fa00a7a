//! A message, whole.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use trapline_model::{Attachment, Header, Link};

use crate::bodies::Bodies;
use crate::charset;
use crate::digest::{self, Digest};
use crate::links;
use crate::structure::{self, Leaf, Structure};
use crate::words;

/// A message, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// What lists show; the same as [`crate::digest`] gives.
    pub digest: Digest,
    /// The first inline `text/html` part, with LF line ends.
    pub html: Option<String>,
    /// The inline `text/plain` parts joined, with LF line ends.
    pub text: Option<String>,
    /// Every field in order, unfolded and decoded; at most 10,000.
    pub headers: Vec<Header>,
    /// Every other part; at most 500.
    pub attachments: Vec<Attachment>,
    /// Anchors of the HTML, then bare links of the text; at most 1,000.
    pub links: Vec<Link>,
    /// One-time codes, the likeliest first; at most 20.
    pub codes: Vec<String>,
}

/// An attachment and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachmentBody {
    /// As [`Parsed::attachments`] lists it.
    pub meta: Attachment,
    /// The exact decoded bytes.
    pub bytes: Vec<u8>,
}

/// Reads a message, best effort: whatever the bytes, the answer holds what could be made of them.
#[must_use]
pub fn parse(raw: &[u8]) -> Parsed {
    crate::caught(|| of(&structure::read(raw))).unwrap_or_else(|| Parsed {
        digest: digest::unparsed(),
        text: Some(charset::guess(raw).into_owned()),
        ..Parsed::default()
    })
}

/// The one-time codes of a message, the likeliest first; at most 20.
#[must_use]
pub fn codes(raw: &[u8]) -> Vec<String> {
    let find = || {
        let structure = structure::read(raw);
        let digest = digest::of(&structure);
        let bodies = Bodies::of(&structure);
        let html = bodies.html.map(Leaf::text);
        crate::codes::find(&digest.subject, bodies.text().as_deref(), html.as_deref())
    };
    crate::caught(find).unwrap_or_default()
}

/// The attachment that [`Attachment::id`] names; none when the message has no such one.
#[must_use]
pub fn attachment(raw: &[u8], id: &str) -> Option<AttachmentBody> {
    let find = || {
        let structure = structure::read(raw);
        let index = id.parse::<usize>().ok()?.checked_sub(1)?;
        let leaf = *Bodies::of(&structure).attachments.get(index)?;
        let bytes = leaf.bytes();
        let meta = describe(index, leaf, &bytes);
        // `01` and `+1` are not ids.
        (meta.id == id).then(|| AttachmentBody { meta, bytes: bytes.into_owned() })
    };
    crate::caught(find)?
}

fn of(structure: &Structure<'_>) -> Parsed {
    let digest = digest::of(structure);
    let bodies = Bodies::of(structure);
    let (text, html) = (bodies.text(), bodies.html.map(Leaf::text));
    let codes = crate::codes::find(&digest.subject, text.as_deref(), html.as_deref());
    let links = links::find(html.as_deref(), text.as_deref());
    let attachments = bodies.attachments.iter().enumerate();
    Parsed {
        attachments: attachments
            .map(|(index, leaf)| describe(index, leaf, &leaf.bytes()))
            .collect(),
        headers: structure.fields.iter().map(header).collect(),
        digest,
        html,
        text,
        links,
        codes,
    }
}

fn header(field: &crate::fields::Field<'_>) -> Header {
    Header { name: field.name.to_owned(), value: words::decode(field.value).text }
}

fn describe(index: usize, leaf: &Leaf<'_>, bytes: &[u8]) -> Attachment {
    Attachment {
        id: (index + 1).to_string(),
        filename: leaf.filename().0,
        content_type: leaf.head.media_type().to_owned(),
        size: bytes.len() as u64,
        content_id: leaf.head.content_id().map(str::to_owned),
        inline: leaf.head.is_inline(),
        sha256: HEXLOWER.encode(&Sha256::digest(bytes)),
    }
}
