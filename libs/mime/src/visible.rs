//! The text of an HTML that its reader sees.

use std::ops::Range;

use crate::entities;
use crate::markup::{self, Tag, Token};

/// Visible text: one line per block, white space folded.
#[derive(Debug, Default)]
pub(crate) struct Visible {
    pub(crate) text: String,
    /// Short pieces set apart by their style: bold, big, monospaced or letter-spaced.
    pub(crate) styled: Vec<Range<usize>>,
}

/// Longest piece that counts as set apart, in bytes, and most of them.
const STYLED_LENGTH: usize = 64;
const STYLED: usize = 1_000;
/// Styled elements within each other that are kept track of.
const STYLED_DEPTH: usize = 32;

const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "center",
    "dd",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "ol",
    "p",
    "plaintext",
    "pre",
    "section",
    "table",
    "tr",
    "ul",
    "xmp",
];
const CELLS: &[&str] = &["td", "th"];
/// Elements that nothing closes (HTML Living Standard, section 13.1.2), and those of earlier HTML.
const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input",
    "keygen", "link", "meta", "param", "source", "track", "wbr",
];
const STRONG: &[&str] =
    &["b", "big", "code", "h1", "h2", "h3", "kbd", "pre", "samp", "strong", "tt"];

fn is_any(name: &str, names: &[&str]) -> bool {
    names.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// Whether browsers show the content of the element, which is no markup.
pub(crate) fn is_shown_as_it_stands(tag: &Tag<'_>) -> bool {
    is_any(tag.name, &["xmp", "plaintext"])
}

/// The visible text of `html`.
pub(crate) fn text(html: &str) -> Visible {
    let mut reader = Reader::default();
    for token in markup::tokens(html) {
        reader.token(&token);
    }
    let length = reader.out.text.trim_end().len();
    reader.out.text.truncate(length);
    reader.out
}

#[derive(Default)]
struct Reader<'a> {
    out: Visible,
    /// The element that hides what is in it, and how many of its name are open.
    hidden: Option<(&'a str, usize)>,
    /// Styled elements that are open, and where their text starts.
    styled: Vec<(&'a str, usize)>,
}

impl<'a> Reader<'a> {
    fn token(&mut self, token: &Token<'a>) {
        match token {
            Token::Text(text) if self.hidden.is_none() => self.text(&entities::decode(text)),
            Token::Text(_) | Token::Doctype(_) => {}
            Token::Open(tag) => self.open(tag),
            Token::Whole(tag, content) => {
                self.open(tag);
                if is_shown_as_it_stands(tag) && self.hidden.is_none() {
                    self.text(content);
                }
                self.close(tag.name);
            }
            Token::Close(name) => self.close(name),
        }
    }

    fn open(&mut self, tag: &Tag<'a>) {
        if let Some((name, depth)) = &mut self.hidden {
            // A paragraph cannot hold another one: the hidden one was not closed.
            if !(tag.is(name) && tag.is("p")) {
                *depth += usize::from(tag.is(name));
                return;
            }
            self.hidden = None;
        }
        if is_any(tag.name, VOID) {
            self.separate(tag.name);
            return;
        }
        let style = tag.attribute("style").map(|style| squeezed(&style)).unwrap_or_default();
        if is_hidden(tag, &style) {
            self.hidden = Some((tag.name, 1));
            return;
        }
        self.separate(tag.name);
        if (is_any(tag.name, STRONG) || is_styled(&style)) && self.styled.len() < STYLED_DEPTH {
            self.styled.push((tag.name, self.out.text.len()));
        }
    }

    fn close(&mut self, name: &str) {
        if let Some((hidden, depth)) = &mut self.hidden {
            if hidden.eq_ignore_ascii_case(name) {
                *depth -= 1;
                if *depth == 0 {
                    self.hidden = None;
                }
            }
            return;
        }
        if let Some(at) = self.styled.iter().rposition(|(open, _)| open.eq_ignore_ascii_case(name))
        {
            let (_, start) = self.styled[at];
            self.styled.truncate(at);
            let end = self.out.text.len();
            if (1..=STYLED_LENGTH).contains(&(end - start)) && self.out.styled.len() < STYLED {
                self.out.styled.push(start..end);
            }
        }
        self.separate(name);
    }

    /// Blocks are on lines of their own, cells a blank apart.
    fn separate(&mut self, name: &str) {
        let separator = if is_any(name, BLOCKS) {
            '\n'
        } else if is_any(name, CELLS) {
            ' '
        } else {
            return;
        };
        let text = &mut self.out.text;
        if separator == '\n' && text.ends_with(' ') {
            text.pop();
        }
        if !text.is_empty() && !text.ends_with(['\n', ' ']) {
            text.push(separator);
        }
    }

    fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            // Most text is words of ASCII, which need no look at each character.
            let word = rest.bytes().take_while(u8::is_ascii_graphic).count();
            self.out.text.push_str(&rest[..word]);
            let mut chars = rest[word..].chars();
            if let Some(char) = chars.next() {
                self.char(char);
            }
            rest = chars.as_str();
        }
    }

    fn char(&mut self, char: char) {
        let out = &mut self.out.text;
        if char.is_whitespace() || char.is_control() {
            if !out.is_empty() && !out.ends_with(['\n', ' ']) {
                out.push(' ');
            }
        } else if !is_invisible(char) {
            out.push(char);
        }
    }
}

/// Characters that senders pad preview texts with, or break long words at.
fn is_invisible(char: char) -> bool {
    matches!(char, '\u{AD}' | '\u{34F}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}')
}

/// A style without blanks, lower-case.
fn squeezed(style: &str) -> String {
    style
        .chars()
        .filter(|char| !char.is_whitespace())
        .map(|char| char.to_ascii_lowercase())
        .collect()
}

fn is_hidden(tag: &Tag<'_>, style: &str) -> bool {
    // `mso-hide:all` is not among them: it hides from one program what all others show.
    const HIDING: &[&str] = &["display:none", "visibility:hidden"];
    const ZERO: &[&str] = &["font-size:0", "max-height:0", "opacity:0"];
    let zero = |property: &&str| {
        style.match_indices(*property).any(|(at, found)| {
            let value = &style[at + found.len()..];
            !value.starts_with(|char: char| char.is_ascii_digit() || char == '.')
        })
    };
    let by_style = !style.is_empty()
        && (HIDING.iter().any(|rule| style.contains(rule)) || ZERO.iter().any(zero));
    by_style || tag.is("template") || tag.attribute("hidden").is_some()
}

fn is_styled(style: &str) -> bool {
    const APART: &[&str] = &["letter-spacing:", "monospace", "courier", "font-weight:bold"];
    !style.is_empty()
        && (APART.iter().any(|rule| style.contains(rule))
            || number_after(style, "font-weight:").is_some_and(|weight| weight >= 600)
            || number_after(style, "font-size:").is_some_and(|size| size >= 20))
}

fn number_after(style: &str, property: &str) -> Option<u32> {
    let value = &style[style.find(property)? + property.len()..];
    let end = value.find(|char: char| !char.is_ascii_digit()).unwrap_or(value.len());
    value[..end].parse().ok()
}
