//! What the HTML of a message holds, by one pass over its tags.

use trapline_mime::{
    decode_html,
    markup::{self, Tag, Token},
};

use super::style::TextStyle;
use crate::words;

/// Styled elements within each other that are kept track of.
const DEPTH: usize = 32;
/// Characters of a first hidden element that count as a preview text.
const PREHEADER: usize = 200;
/// Elements that nothing closes (HTML Living Standard, section 13.1.2).
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];
const TINY: std::ops::RangeInclusive<f32> = 3.0..=7.0;

/// What a pass found.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is what one rule asks for")]
pub(super) struct VisiblePage {
    pub(super) has_script: bool,
    pub(super) has_embed: bool,
    pub(super) has_form: bool,
    pub(super) has_refresh: bool,
    /// An image that is larger than 1 × 1.
    pub(super) has_image: bool,
    /// An anchor to `data:`, `vbscript:` or `file:`.
    pub(super) has_bad_scheme: bool,
    /// Words that nobody sees, those of a preview text left out.
    pub(super) hidden_words: usize,
    /// Words that hardly anybody can read.
    pub(super) tiny_words: usize,
}

impl VisiblePage {
    /// Reads `html`.
    pub(super) fn read(html: &str) -> Self {
        let mut reader = PageReader::default();
        for token in markup::tokens(html) {
            match token {
                Token::Open(tag) => reader.open(&tag),
                Token::Whole(tag, _) => reader.element(&tag),
                Token::Close(name) => reader.close(name),
                Token::Text(text) => reader.text(text),
                Token::Doctype(_) | Token::Comment(_) => {}
            }
        }
        reader.finish()
    }
}

/// An element whose style differs from that around it.
struct StyledElement<'a> {
    name: &'a str,
    /// How many elements of that name are open, this one included.
    open: usize,
    style: TextStyle,
    /// Which hidden element it is in, the first one being 1; 0 for none.
    hidden: usize,
}

#[derive(Default)]
struct PageReader<'a> {
    page: VisiblePage,
    scopes: Vec<StyledElement<'a>>,
    hidden_elements: usize,
    /// Words and characters of the first hidden element.
    first_hidden: (usize, usize),
}

impl<'a> PageReader<'a> {
    fn open(&mut self, tag: &Tag<'a>) {
        self.element(tag);
        if VOID.iter().any(|name| tag.is(name)) {
            return;
        }
        for scope in self.scopes.iter_mut().filter(|scope| tag.is(scope.name)) {
            scope.open += 1;
        }
        let (outer, hidden) = self.style();
        let style = outer.within(tag);
        if style == outer || self.scopes.len() == DEPTH {
            return;
        }
        let starts = style.is_hidden && hidden == 0;
        self.hidden_elements += usize::from(starts);
        let hidden = if starts { self.hidden_elements } else { hidden };
        self.scopes.push(StyledElement { name: tag.name, open: 1, style, hidden });
    }

    fn close(&mut self, name: &str) {
        for scope in self.scopes.iter_mut().filter(|scope| scope.name.eq_ignore_ascii_case(name)) {
            scope.open -= 1;
        }
        if let Some(at) = self.scopes.iter().position(|scope| scope.open == 0) {
            self.scopes.truncate(at);
        }
    }

    fn style(&self) -> (TextStyle, usize) {
        self.scopes.last().map(|scope| (scope.style, scope.hidden)).unwrap_or_default()
    }

    fn text(&mut self, text: &str) {
        let (style, hidden) = self.style();
        let is_tiny = TINY.contains(&style.size);
        if hidden == 0 && !is_tiny {
            return;
        }
        let text = decode_html(text);
        let found = words::count(&text);
        match hidden {
            0 => self.page.tiny_words += found,
            1 => {
                self.first_hidden.0 += found;
                self.first_hidden.1 += text.trim().chars().count();
            }
            _ => self.page.hidden_words += found,
        }
    }

    fn element(&mut self, tag: &Tag<'_>) {
        let is = |names: &[&str]| names.iter().any(|name| tag.is(name));
        let page = &mut self.page;
        page.has_script |= is(&["script"]);
        page.has_embed |= is(&["iframe", "object", "embed", "applet"]);
        page.has_form |= is(&["form"]);
        page.has_image |= is(&["img"]) && !is_pixel(tag);
        let is_anchor = is(&["a", "area"]);
        for (name, value) in tag.attributes() {
            page.has_script |= is_handler(name) || scheme_of(value).starts_with("javascript:");
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            if is_anchor && is("href") {
                let scheme = scheme_of(value);
                page.has_bad_scheme |=
                    ["data:", "vbscript:", "file:"].iter().any(|bad| scheme.starts_with(bad));
            }
            page.has_refresh |=
                tag.is("meta") && is("http-equiv") && value.trim().eq_ignore_ascii_case("refresh");
        }
    }

    fn finish(mut self) -> VisiblePage {
        let (words, characters) = self.first_hidden;
        if characters > PREHEADER {
            self.page.hidden_words += words;
        }
        self.page
    }
}

/// Whether an attribute of that name is a script that an event starts.
fn is_handler(name: &str) -> bool {
    name.len() > 4
        && name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("on"))
        && name.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// The start of an attribute's value without what browsers ignore within a scheme, lower-case.
fn scheme_of(value: &str) -> String {
    let start = &value[..value.floor_char_boundary(64)];
    let decoded = decode_html(start);
    let chars = decoded.chars().filter(|char| !(char.is_whitespace() || char.is_control()));
    chars.take(12).map(|char| char.to_ascii_lowercase()).collect()
}

/// Whether an image is 1 × 1 at most, as those that count openings are.
fn is_pixel(tag: &Tag<'_>) -> bool {
    let is_one = |name| {
        let value = tag.attribute(name);
        value.is_some_and(|value| matches!(value.trim().trim_end_matches("px"), "0" | "1"))
    };
    is_one("width") && is_one("height")
}
