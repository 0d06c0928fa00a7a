//! The text of an HTML that its reader sees.

mod elements;
mod hiding;
mod style;

use std::ops::Range;

use crate::entities;
use crate::markup::{self, Tag, Token};

pub(crate) use elements::shown_content;

use hiding::Hiding;
use style::Style;

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
    hiding: Hiding<'a>,
    /// Styled elements that are open, and where their text starts.
    styled: Vec<(&'a str, usize)>,
}

impl<'a> Reader<'a> {
    fn token(&mut self, token: &Token<'a>) {
        match token {
            Token::Text(text) if !self.hiding.is_on() => self.text(&entities::decode(text)),
            Token::Text(_) | Token::Doctype(_) | Token::Comment(_) => {}
            Token::Open(tag) => self.open(tag),
            Token::Whole(tag, content) => {
                self.open(tag);
                if let Some(shown) = shown_content(tag, content)
                    && !self.hiding.is_on()
                {
                    self.text(&shown);
                }
                self.close(tag.name);
            }
            // Their end was read with them; browsers ignore another.
            Token::Close(name) if elements::is_source(name) => {}
            Token::Close(name) => self.close(name),
        }
    }

    fn open(&mut self, tag: &Tag<'a>) {
        self.hiding.before_start(tag.name);
        if self.hiding.is_empty(tag) {
            self.separate(tag.name);
            return;
        }
        let style = Style::of(tag);
        self.hiding.open(tag, &style);
        self.separate(tag.name);
        if (elements::is_strong(tag.name) || style.is_striking) && self.styled.len() < STYLED_DEPTH
        {
            self.styled.push((tag.name, self.out.text.len()));
        }
    }

    fn close(&mut self, name: &str) {
        self.hiding.before_end(name);
        let is_nothing = self.hiding.takes_no_room();
        self.hiding.close(name);
        if is_nothing {
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

    fn separate(&mut self, name: &str) {
        let Some(separator) = elements::separator(name).filter(|_| !self.hiding.takes_no_room())
        else {
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
