//! HTML split into tags and text, in one pass over the source: for reading (text, links, codes) and for
//! writing it again as a preview.
//!
//! What a browser takes for a tag depends on the elements around it: `<noscript>` with or without
//! scripts, `<title>` and CDATA within SVG. Nothing here tries to know that. What is written again
//! (see `preview::html`) reads the same whatever a browser takes it for.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memmem};

use crate::entities;

/// Attributes of a tag that are read; letters have a few dozen at most.
const ATTRIBUTES: usize = 256;

/// A piece of HTML. Processing instructions and CDATA marks are comments here, as browsers have it.
#[derive(Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Text between tags, character references not decoded.
    Text(&'a str),
    /// What is between `<!` and `>`.
    Doctype(&'a str),
    /// What is between `<!--` and its end; for what browsers take for a comment, what follows `<`.
    Comment(&'a str),
    /// A start tag.
    Open(Tag<'a>),
    /// An element whose content is no markup, or is left out.
    Whole(Tag<'a>, &'a str),
    /// The name as written.
    Close(&'a str),
}

/// A start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag<'a> {
    /// As written.
    pub name: &'a str,
    /// What is between the name and the end of the tag, that end included.
    rest: &'a str,
    /// Ends in `/>` and has no content, which counts within SVG and `MathML`.
    pub is_empty: bool,
}

impl<'a> Tag<'a> {
    /// Whether the element is called `name`, in any case.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The first 256 attributes: names as written, and values with their character references.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mut cursor = Cursor { text: self.rest, at: 0 };
        std::iter::from_fn(move || cursor.next_attribute()).take(ATTRIBUTES)
    }

    /// The decoded value of the first attribute with that name, as browsers choose it.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<Cow<'a, str>> {
        let found = self.attributes().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| entities::decode(value))
    }
}

/// Elements whose content is no markup (HTML Living Standard, section 13.2.6.4.4 and following).
const WHOLE: &[&str] =
    &["style", "title", "textarea", "xmp", "plaintext", "script", "iframe", "noembed", "noframes"];

/// Splits HTML.
pub struct Tokens<'a> {
    rest: &'a str,
}

/// The tokens of `html`.
#[must_use]
pub fn tokens(html: &str) -> Tokens<'_> {
    Tokens { rest: html }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let start = markup_start(self.rest);
            if start > 0 {
                return Some(Token::Text(self.take(start)));
            }
            if let Some(token) = self.markup() {
                return Some(token);
            }
        }
        None
    }
}

impl<'a> Tokens<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Reads what starts with `<`; none for what is left out.
    fn markup(&mut self) -> Option<Token<'a>> {
        let bytes = self.rest.as_bytes();
        match bytes[1] {
            b'!' if bytes.starts_with(b"<!--") => {
                let comment = self.take(comment_end(self.rest));
                let inner = comment["<!--".len()..].trim_end_matches('>');
                Some(Token::Comment(inner.strip_suffix("--").unwrap_or(inner)))
            }
            b'!' => self.declaration(),
            b'?' => self.bogus_comment(),
            b'/' if !bytes.get(2).is_some_and(u8::is_ascii_alphabetic) => self.bogus_comment(),
            b'/' => Some(Token::Close(self.tag(2)?.name)),
            _ => self.element(),
        }
    }

    /// Reads up to the next `>`.
    fn declaration(&mut self) -> Option<Token<'a>> {
        let Some(end) = memchr(b'>', self.rest.as_bytes()) else {
            self.rest = "";
            return None;
        };
        let declaration = &self.take(end + 1)[1..end];
        let inner = &declaration[1..];
        let is_doctype = inner.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("doctype"));
        Some(if is_doctype { Token::Doctype(inner) } else { Token::Comment(declaration) })
    }

    /// Reads what ends with the next `>` (HTML Living Standard, section 13.2.5.41).
    fn bogus_comment(&mut self) -> Option<Token<'a>> {
        let Some(end) = memchr(b'>', self.rest.as_bytes()) else {
            self.rest = "";
            return None;
        };
        Some(Token::Comment(&self.take(end + 1)[1..end]))
    }

    fn element(&mut self) -> Option<Token<'a>> {
        let tag = self.tag(1)?;
        if !WHOLE.iter().any(|name| tag.is(name)) {
            return Some(Token::Open(tag));
        }
        let tag = Tag { is_empty: false, ..tag };
        if tag.is("plaintext") {
            return Some(Token::Whole(tag, std::mem::take(&mut self.rest)));
        }
        let content = self.take(content_end(self.rest, tag.name));
        self.tag(2);
        Some(Token::Whole(tag, content))
    }

    /// Reads a tag whose name starts at `from`; none when the source ends within it, which browsers
    /// ignore.
    fn tag(&mut self, from: usize) -> Option<Tag<'a>> {
        let mut cursor = Cursor { text: self.rest, at: from };
        let tag = cursor.tag();
        self.rest = self.rest.get(cursor.at..).unwrap_or_default();
        tag
    }
}

/// A position in the source, within a tag.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Moves to the next byte for which `stop` holds, and returns what was passed.
    fn until(&mut self, stop: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.bytes().position(stop).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// HTML Living Standard, sections 13.2.5.8 and 13.2.5.32 to 13.2.5.40.
    fn tag(&mut self) -> Option<Tag<'a>> {
        let name = self.until(ends_name);
        let start = self.at;
        loop {
            let skipped = self.between_attributes();
            if self.peek()? == b'>' {
                self.at += 1;
                let rest = &self.text[start..self.at];
                return Some(Tag { name, rest, is_empty: skipped.ends_with('/') });
            }
            self.attribute()?;
        }
    }

    fn between_attributes(&mut self) -> &'a str {
        self.until(|byte| !(byte.is_ascii_whitespace() || byte == b'/'))
    }

    /// The next attribute of a tag that was read to its end.
    fn next_attribute(&mut self) -> Option<(&'a str, &'a str)> {
        self.between_attributes();
        if self.peek()? == b'>' { None } else { self.attribute() }
    }

    fn attribute(&mut self) -> Option<(&'a str, &'a str)> {
        let start = self.at;
        // An equals sign at the start is part of the name.
        if self.peek()? == b'=' {
            self.at += 1;
        }
        self.until(|byte| byte == b'=' || ends_name(byte));
        let name = &self.text[start..self.at];
        self.until(|byte| !byte.is_ascii_whitespace());
        if self.peek()? != b'=' {
            return Some((name, ""));
        }
        self.at += 1;
        self.until(|byte| !byte.is_ascii_whitespace());
        let value = match self.peek()? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                let value = self.until(|byte| byte == quote);
                self.peek()?;
                self.at += 1;
                value
            }
            _ => self.until(|byte| byte == b'>' || byte.is_ascii_whitespace()),
        };
        Some((name, value))
    }
}

fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>')
}

/// Whether a browser may take a `<` before that byte for the start of markup.
pub(crate) fn starts_markup(next: u8) -> bool {
    next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?')
}

/// Where the next thing that is no text starts.
fn markup_start(html: &str) -> usize {
    let bytes = html.as_bytes();
    memchr_iter(b'<', bytes)
        .find(|at| bytes.get(at + 1).is_some_and(|next| starts_markup(*next)))
        .unwrap_or(html.len())
}

/// Where the comment at the start of `html` ends (sections 13.2.5.43 to 13.2.5.52).
fn comment_end(html: &str) -> usize {
    let comment = &html.as_bytes()["<!--".len()..];
    let is_end = |at: &usize| {
        let before = &comment[..*at];
        before.is_empty() || before == b"-" || before.ends_with(b"--") || before.ends_with(b"--!")
    };
    let end = memchr_iter(b'>', comment).find(is_end);
    end.map_or(html.len(), |at| "<!--".len() + at + 1)
}

/// Where the content of the element `name` ends.
fn content_end(html: &str, name: &str) -> usize {
    let bytes = html.as_bytes();
    let is_end = |at: &usize| {
        let after = &bytes[at + 2..];
        let found = after.get(..name.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
            && after.get(name.len()).is_some_and(|byte| ends_name(*byte))
    };
    memmem::find_iter(bytes, b"</").find(is_end).unwrap_or(html.len())
}
