//! A message as its checks see it: what was read of it, borrowed from its bytes.

use std::borrow::Cow;

use trapline_model::{Address, Link};

use crate::addresses;
use crate::bodies::Bodies;
use crate::charset;
use crate::digest::{self, Digest};
use crate::fields;
use crate::limits;
use crate::links;
use crate::structure::{self, Leaf, Structure};
use crate::transfer::Transfer;
use crate::visible;
use crate::warnings::{Fault, ParseWarnings};

/// A message, taken apart once.
#[derive(Debug)]
pub struct View<'a> {
    structure: Structure<'a>,
    digest: Digest,
    text: Option<String>,
    html: Option<String>,
}

impl<'a> View<'a> {
    /// Reads a message, best effort, as [`crate::parse`] does.
    #[must_use]
    pub fn read(raw: &'a [u8]) -> Self {
        crate::catch_panic(|| Self::of(structure::read(raw))).unwrap_or_else(|| Self {
            structure: Structure {
                fields: Vec::new(),
                leaves: Vec::new(),
                faults: ParseWarnings::from(Fault::ParseError),
            },
            digest: digest::unparsed(),
            text: Some(charset::guess(raw).into_owned()),
            html: None,
        })
    }

    fn of(structure: Structure<'a>) -> Self {
        let bodies = Bodies::of(&structure);
        let digest = digest::of(&structure, &bodies);
        let (text, html) = (bodies.text(), bodies.html.map(Leaf::text));
        Self { structure, digest, text, html }
    }

    /// What lists show of the message, with what the sender got wrong.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The inline plain text, as [`crate::Parsed::text`] is.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The first inline HTML part, as [`crate::Parsed::html`] is.
    #[must_use]
    pub fn html(&self) -> Option<&str> {
        self.html.as_deref()
    }

    /// The values of the fields called `name`, in order: unfolded, not decoded, at most 128 KiB each.
    pub fn fields(&self, name: &str) -> impl Iterator<Item = Cow<'a, [u8]>> {
        let named = self.structure.fields.iter();
        named
            .filter(move |field| field.name.eq_ignore_ascii_case(name))
            .map(|field| fields::unfold(field.value))
    }

    /// The mailboxes of the first field called `name`.
    #[must_use]
    pub fn mailboxes(&self, name: &str) -> Vec<Address> {
        let value = fields::first(&self.structure.fields, name);
        value.map(|value| addresses::parse(value).0).unwrap_or_default()
    }

    /// The links of the message, as [`crate::Parsed::links`] are.
    #[must_use]
    pub fn links(&self) -> Vec<Link> {
        links::find(self.html(), self.text())
    }

    /// The parts that are no multiparts, in order; at most 1,000.
    pub fn parts(&self) -> impl Iterator<Item = PartView<'_>> {
        self.structure.leaves.iter().map(|leaf| PartView { leaf })
    }
}

/// The text of the first 2 MiB of `html` that its reader sees: a line for each block, white space
/// folded, without what inline styles hide.
#[must_use]
pub fn visible_text(html: &str) -> String {
    visible::text(limits::cut(html, limits::HTML)).text
}

/// A part of a message.
#[derive(Debug, Clone, Copy)]
pub struct PartView<'m> {
    leaf: &'m Leaf<'m>,
}

impl<'m> PartView<'m> {
    /// The media type, lower-case, without parameters.
    #[must_use]
    pub fn media_type(&self) -> &'m str {
        self.leaf.head.media_type()
    }

    /// The file name as attachments list it; `""` when there is none.
    #[must_use]
    pub fn filename(&self) -> String {
        self.leaf.filename().0
    }

    /// The Content-ID without angle brackets.
    #[must_use]
    pub fn content_id(&self) -> Option<&'m str> {
        self.leaf.head.content_id()
    }

    /// Whether the sender wants the part offered for download.
    #[must_use]
    pub fn is_attachment(&self) -> bool {
        self.leaf.head.is_attachment()
    }

    /// Whether the part is sent in base64.
    #[must_use]
    pub fn is_base64(&self) -> bool {
        self.leaf.is_sent_in(Transfer::Base64)
    }

    /// The exact decoded bytes.
    #[must_use]
    pub fn bytes(&self) -> Cow<'m, [u8]> {
        self.leaf.bytes()
    }

    /// The beginning of the decoded bytes, from at most `length` bytes of the body as sent.
    #[must_use]
    pub fn start(&self, length: usize) -> Cow<'m, [u8]> {
        self.leaf.bytes_prefix(length)
    }
}
