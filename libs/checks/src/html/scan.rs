//! The HTML of a message, by one pass over its tags.

use trapline_mime::{
    decode_html,
    markup::{self, Tag, Token},
};

use super::{
    css::{self, CssPlace},
    images::{self, PartTypes},
    matchers::UseKind,
    uses::{Audience, Uses},
};

/// Which features `html` uses.
pub(super) fn scan(html: &str, parts: &PartTypes) -> Uses {
    let mut scan = HtmlScan { html, parts, uses: Uses::new() };
    scan.markup(html, true);
    scan.uses
}

struct HtmlScan<'s> {
    html: &'s str,
    parts: &'s PartTypes,
    uses: Uses,
}

impl<'s> HtmlScan<'s> {
    fn markup(&mut self, markup: &'s str, has_comments: bool) {
        for token in markup::tokens(markup) {
            match token {
                Token::Open(tag) => self.element(&tag),
                Token::Whole(tag, content) => {
                    self.element(&tag);
                    if tag.is("style") {
                        let place = CssPlace { start: self.offset(content), is_exact: true };
                        css::sheet(content, place, self.parts, &mut self.uses);
                    }
                }
                Token::Doctype(inner) => {
                    let words: Vec<_> = inner.split_whitespace().collect();
                    if let [_, name] = words[..]
                        && name.eq_ignore_ascii_case("html")
                    {
                        let at = self.offset(inner);
                        self.uses.found(UseKind::Special, "doctype", at);
                    }
                }
                Token::Comment(inner) if has_comments => self.comment(inner),
                Token::Comment(_) | Token::Close(_) | Token::Text(_) => {}
            }
        }
    }

    /// Bytes from the start of the HTML; `part` is a part of it.
    fn offset(&self, part: &str) -> usize {
        part.as_ptr().addr().saturating_sub(self.html.as_ptr().addr())
    }

    /// Reads a comment, which may be for Outlook on Windows alone or for all but it.
    fn comment(&mut self, inner: &'s str) {
        let squeezed = inner[..inner.floor_char_boundary(64)].to_ascii_lowercase();
        let trimmed = squeezed.trim_start().trim_start_matches(['<', '!']);
        if trimmed.starts_with("[endif]") {
            self.uses.audience = Audience::Everyone;
            return;
        }
        if !trimmed.starts_with("[if") {
            let at = self.offset(inner);
            // Browsers take other things for comments too.
            if self.html[..at].ends_with("<!--") {
                self.uses.found(UseKind::Special, "html-comments", at);
            }
            return;
        }
        let condition = trimmed.split(']').next().unwrap_or_default();
        let audience = audience(condition);
        let rest = inner.split_once("]>").map_or("", |(_, rest)| rest);
        if matches!(rest.trim(), "" | "<!" | "<!--") {
            // What follows is seen by those who know no conditions.
            self.uses.audience = audience.unwrap_or(Audience::Everyone);
        } else if audience == Some(Audience::Outlook) {
            let hidden = rest.split("<![endif]").next().unwrap_or_default();
            let around = std::mem::replace(&mut self.uses.audience, Audience::Outlook);
            self.markup(hidden, false);
            self.uses.audience = around;
        }
    }

    fn element(&mut self, tag: &Tag<'s>) {
        let at = self.offset(tag.name).saturating_sub(1);
        self.uses.found(UseKind::Element, tag.name, at);
        if tag.is("map") {
            self.uses.found(UseKind::Special, "image-maps", at);
        }
        let mut kind = None;
        for (name, value) in tag.attributes() {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            if is("type") {
                kind = Some(value);
            }
            self.attribute(tag, name, value);
        }
        self.typed(tag, kind, at);
    }

    /// Inputs are texts, and buttons submit, where they do not say otherwise.
    fn typed(&mut self, tag: &Tag<'_>, kind: Option<&str>, at: usize) {
        let Some(default) = [("input", "text"), ("button", "submit")]
            .iter()
            .find_map(|(name, default)| tag.is(name).then_some(*default))
        else {
            return;
        };
        let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or(default);
        if kind.len() < 16 {
            self.uses.found(UseKind::Typed, &format!("{} {kind}", tag.name), at);
        }
    }

    fn attribute(&mut self, tag: &Tag<'_>, name: &'s str, value: &'s str) {
        let at = self.offset(name);
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        self.uses.found(UseKind::Attribute, name, at);
        if is("style") {
            let css = decode_html(value);
            let is_exact = matches!(css, std::borrow::Cow::Borrowed(_));
            let place = CssPlace { start: self.offset(value), is_exact };
            css::attribute(&css, place, self.parts, &mut self.uses);
        } else if is("href") && (tag.is("a") || tag.is("area")) {
            self.link(value.trim(), at);
        } else if is("usemap") {
            self.uses.found(UseKind::Special, "image-maps", at);
        } else if is("background") || (is("src") && (tag.is("img") || tag.is("input"))) {
            images::image(&decode_html(value), self.parts, at, &mut self.uses);
        } else if is("srcset") {
            // Of each candidate the URL comes first.
            for url in value.split(',').filter_map(|candidate| candidate.split_whitespace().next())
            {
                images::image(url, self.parts, at, &mut self.uses);
            }
        } else if is("name") && tag.is("meta") && value.trim().eq_ignore_ascii_case("color-scheme")
        {
            self.uses.found(UseKind::Special, "meta-color-scheme", at);
        }
    }

    fn link(&mut self, target: &str, at: usize) {
        if target.len() > 1 && target.starts_with('#') {
            self.uses.found(UseKind::Special, "anchor-links", at);
        }
        if target.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("mailto:")) {
            self.uses.found(UseKind::Special, "mailto-links", at);
        }
    }
}

/// For whom a conditional comment is; none where no client follows its condition.
fn audience(condition: &str) -> Option<Audience> {
    let condition: String = condition.chars().filter(|char| !char.is_whitespace()).collect();
    if !condition.contains("mso") {
        return None;
    }
    Some(if condition.starts_with("[if!") { Audience::Others } else { Audience::Outlook })
}
