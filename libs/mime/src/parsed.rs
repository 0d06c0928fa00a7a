//! A message, whole.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use trapline_model::{Attachment, Header, Link};

use crate::bodies::{self, Bodies};
use crate::charset;
use crate::digest::{self, Digest};
use crate::fields::{self, Field};
use crate::limits;
use crate::links;
use crate::structure::{self, Leaf, Structure};
use crate::words;

/// A message, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// What lists show; the same as [`crate::digest`] gives.
    pub digest: Digest,
    /// The Message-ID field without angle brackets (RFC 5322, section 3.6.4); at most 998 bytes.
    pub message_id: Option<String>,
    /// The first inline `text/html` part, with LF line ends.
    pub html: Option<String>,
    /// The inline `text/plain` parts joined, with LF line ends.
    pub text: Option<String>,
    /// Every field in order, unfolded and decoded; at most 10,000.
    pub headers: Vec<Header>,
    /// Every other part; at most 500.
    pub attachments: Vec<Attachment>,
    /// Forms of the body that are neither the text nor the HTML; at most 500.
    pub alternatives: Vec<Attachment>,
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
    crate::catch_panic(|| of(&structure::read(raw))).unwrap_or_else(|| Parsed {
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
        let bodies = Bodies::of(&structure);
        codes_of(&bodies, &digest::of(&structure, &bodies))
    };
    crate::catch_panic(find).unwrap_or_default()
}

/// What lists need of a message, and whether it has a one-time code, from one reading.
#[must_use]
pub fn digest_and_code(raw: &[u8]) -> (Digest, bool) {
    let read = || {
        let structure = structure::read(raw);
        let bodies = Bodies::of(&structure);
        let digest = digest::of(&structure, &bodies);
        // A fault in the search for codes must not cost the digest.
        let codes = crate::catch_panic(|| codes_of(&bodies, &digest)).unwrap_or_default();
        (digest, !codes.is_empty())
    };
    crate::catch_panic(read).unwrap_or_else(|| (digest::unparsed(), false))
}

fn codes_of(bodies: &Bodies<'_, '_>, digest: &Digest) -> Vec<String> {
    let html = bodies.html.map(Leaf::text);
    crate::codes::find(&digest.subject, bodies.text().as_deref(), html.as_deref())
}

/// The attachment or alternative that [`Attachment::id`] names; none when the message has no such one.
#[must_use]
pub fn attachment(raw: &[u8], id: &str) -> Option<AttachmentBody> {
    let find = || {
        let structure = structure::read(raw);
        let leaf = Bodies::of(&structure).listed(id)?;
        let bytes = leaf.bytes();
        let meta = describe(id.to_owned(), leaf, &bytes);
        // `01` and `+1` are not ids.
        let is_id = !id.trim_start_matches(bodies::ALTERNATIVE).starts_with(['0', '+']);
        is_id.then(|| AttachmentBody { meta, bytes: bytes.into_owned() })
    };
    crate::catch_panic(find)?
}

fn of(structure: &Structure<'_>) -> Parsed {
    let bodies = Bodies::of(structure);
    let digest = digest::of(structure, &bodies);
    let (text, html) = (bodies.text(), bodies.html.map(Leaf::text));
    let codes = crate::codes::find(&digest.subject, text.as_deref(), html.as_deref());
    let links = links::find(html.as_deref(), text.as_deref());
    Parsed {
        message_id: message_id(&structure.fields),
        attachments: list("", &bodies.attachments),
        alternatives: list(bodies::ALTERNATIVE, &bodies.alternatives),
        headers: structure.fields.iter().map(header).collect(),
        digest,
        html,
        text,
        links,
        codes,
    }
}

fn header(field: &Field<'_>) -> Header {
    Header { name: field.name.to_owned(), value: words::decode(field.value).text }
}

fn message_id(fields: &[Field<'_>]) -> Option<String> {
    let value = fields::unfold(fields::first(fields, "message-id")?);
    let text = charset::guess(&value);
    let inner = text.split_once('<').map_or(&*text, |(_, rest)| rest);
    let id = inner.split('>').next().unwrap_or_default().trim();
    (!id.is_empty()).then(|| limits::cut(id, limits::LINE).to_owned())
}

/// The parts, numbered from 1.
fn list(prefix: &str, leaves: &[&Leaf<'_>]) -> Vec<Attachment> {
    let numbered = leaves.iter().zip(1..);
    numbered
        .map(|(leaf, number)| describe(format!("{prefix}{number}"), leaf, &leaf.bytes()))
        .collect()
}

fn describe(id: String, leaf: &Leaf<'_>, bytes: &[u8]) -> Attachment {
    Attachment {
        id,
        filename: leaf.filename().0,
        content_type: leaf.head.media_type().to_owned(),
        size: bytes.len() as u64,
        content_id: leaf.head.content_id().map(str::to_owned),
        inline: leaf.head.is_inline(),
        sha256: HEXLOWER.encode(&Sha256::digest(bytes)),
    }
}
