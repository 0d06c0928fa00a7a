//! A small tokenizer for the HTML of mail, in one pass over the text.
//!
//! It serves reading (snippets, links, codes), never what a browser is given: that is
//! `preview::html`.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::{memchr, memmem};
use regex::bytes::Regex;

use crate::entities;

/// A piece of HTML. Comments, declarations and the content of scripts and styles are left out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Text between tags, character references not decoded.
    Text(&'a str),
    Open(Tag<'a>),
    /// The name as written.
    Close(&'a str),
}

/// A start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag<'a> {
    /// As written.
    pub(crate) name: &'a str,
    attributes: &'a str,
}

impl<'a> Tag<'a> {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The decoded value of the first attribute called `name`.
    pub(crate) fn attribute(&self, name: &str) -> Option<Cow<'a, str>> {
        let mut attributes = Attributes { rest: self.attributes };
        attributes.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, v)| entities::decode(v))
    }
}

/// Bytes in which an HTML may name its charset (HTML Living Standard, section 4.2.5.4).
pub(crate) const PRESCAN: usize = 1_024;

/// The label of the charset that `html` names in a `meta` element near its start.
pub(crate) fn charset(html: &[u8]) -> Option<&[u8]> {
    static META: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let label = r#"charset\s*=\s*["']?\s*([^\s"'/>;]+)"#;
        Regex::new(&format!(r"(?i-u)<!--.*?-->|<meta(?:[\s/][^>]*?)??(?:[\s;\x22'/]){label}")).ok()
    });
    let start = &html[..html.len().min(PRESCAN)];
    // A comment matches without a label.
    let mut found = META.iter().flat_map(|regex| regex.captures_iter(start));
    found.find_map(|meta| Some(meta.get(1)?.as_bytes()))
}

struct Attributes<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let is_blank = |char: char| char.is_ascii_whitespace() || char == '/';
        self.rest = self.rest.trim_start_matches(is_blank);
        if self.rest.is_empty() {
            return None;
        }
        // An equals sign at the start is part of the name.
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let end = self.rest[first..].find(|char: char| char == '=' || is_blank(char));
        let (name, rest) = self.rest.split_at(end.map_or(self.rest.len(), |at| at + first));
        let Some(value) = rest.trim_start().strip_prefix('=') else {
            self.rest = rest;
            return Some((name, ""));
        };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|char| matches!(char, '"' | '\''));
        let (value, rest) = match quote {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => {
                value.split_at(value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len()))
            }
        };
        self.rest = rest;
        Some((name, value))
    }
}

/// The tokens of `html`.
pub(crate) fn tokens(html: &str) -> Tokens<'_> {
    Tokens { rest: html, raw: None }
}

pub(crate) struct Tokens<'a> {
    rest: &'a str,
    /// The element whose content is no markup, while in it.
    raw: Option<&'a str>,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(name) = self.raw.take() {
                self.rest = after_raw(self.rest, name);
            }
            if self.rest.is_empty() {
                return None;
            }
            let start = next_tag(self.rest);
            if start > 0 {
                let (text, rest) = self.rest.split_at(start);
                self.rest = rest;
                return Some(Token::Text(text));
            }
            if let Some(token) = self.tag() {
                return Some(token);
            }
        }
    }
}

impl<'a> Tokens<'a> {
    /// Reads what starts with `<`; none for what is left out.
    fn tag(&mut self) -> Option<Token<'a>> {
        let rest = self.rest;
        if let Some(comment) = rest.strip_prefix("<!--") {
            // `<!-->` is a whole comment.
            let from = if comment.starts_with('>') { 0 } else { 2 };
            let end =
                memmem::find(&rest.as_bytes()[2 + from..], if from == 0 { b">" } else { b"-->" });
            let skip = if from == 0 { 1 } else { 3 };
            self.rest = end.map_or("", |at| &rest[2 + from + at + skip..]);
            return None;
        }
        let end = tag_end(rest);
        let inner = rest[1..end].trim_end_matches('>');
        self.rest = &rest[end..];
        if inner.starts_with(['!', '?']) {
            return None;
        }
        let (closing, inner) = match inner.strip_prefix('/') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        let split =
            inner.find(|c: char| c.is_ascii_whitespace() || c == '/').unwrap_or(inner.len());
        let (name, attributes) = inner.split_at(split);
        if closing {
            return Some(Token::Close(name));
        }
        self.raw = RAW.iter().any(|raw| raw.eq_ignore_ascii_case(name)).then_some(name);
        Some(Token::Open(Tag { name, attributes }))
    }
}

/// Elements whose content is no markup.
const RAW: &[&str] = &["script", "style", "title", "textarea", "xmp", "iframe", "noembed"];

/// Where the next thing that is no text starts.
fn next_tag(html: &str) -> usize {
    let bytes = html.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr(b'<', &bytes[at..]) {
        at += found;
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        if next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?') {
            return at;
        }
        at += 1;
    }
    html.len()
}

/// Where the tag at the start of `html` ends, quoted `>` aside.
fn tag_end(html: &str) -> usize {
    let mut quote = None;
    for (at, byte) in html.bytes().enumerate().skip(1) {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            // A quote starts a value only after an equals sign.
            (None, b'"' | b'\'') if html[..at].trim_end().ends_with('=') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    html.len()
}

fn after_raw<'a>(html: &'a str, name: &str) -> &'a str {
    let bytes = html.as_bytes();
    for at in memmem::find_iter(bytes, b"</") {
        let end = at + 2 + name.len();
        if bytes.get(at + 2..end).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes())) {
            return &html[at..];
        }
    }
    ""
}
