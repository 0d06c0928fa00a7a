//! Styles: references to the message's parts, and what a browser could take for markup.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::parts::Parts;
use crate::markup::starts_markup;

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)url\(\s*(?:"(cid:[^"]*)"|'(cid:[^']*)'|(cid:[^"'()\s]*))\s*\)"#).ok()
});

/// Comment and CDATA marks around a style, which say nothing to CSS.
const MARKS: &[&str] = &["<!--", "-->", "<![CDATA[", "]]>"];

/// The content of a style element: without marks, its references to parts replaced, and no tag in it.
pub(super) fn element(css: &str, parts: &Parts<'_>) -> String {
    without_markup(&rewrite(&without_marks(css), parts))
}

/// `css` without marks, and without those that come about where one is taken away.
fn without_marks(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    for char in css.chars() {
        out.push(char);
        let mark = MARKS.iter().find(|mark| mark.ends_with(char) && out.ends_with(**mark));
        out.truncate(out.len() - mark.map_or(0, |mark| mark.len()));
    }
    out
}

/// `css` with each `url(cid:…)` of a known part replaced.
pub(super) fn rewrite<'a>(css: &'a str, parts: &Parts<'_>) -> Cow<'a, str> {
    let Some(regex) = URL.as_ref() else { return Cow::Borrowed(css) };
    regex.replace_all(css, |found: &Captures<'_>| {
        let url = (1..=3).find_map(|group| found.get(group)).map_or("", |group| group.as_str());
        match parts.url(url) {
            Some(target) => format!("url(\"{}\")", escape(&target)),
            None => found[0].to_owned(),
        }
    })
}

/// Escapes what could end a quoted string (CSS Syntax Level 3, section 4.3.5) or a style element.
fn escape(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for char in url.chars() {
        if char.is_control() || matches!(char, '"' | '\'' | '\\' | '<' | '>') {
            let code = format!("\\{:x} ", u32::from(char));
            out.push_str(&code);
        } else {
            out.push(char);
        }
    }
    out
}

/// `css` so that no browser finds a tag in it: within SVG the content of a style element is markup.
///
/// A `<` before a letter stands in strings only, where it may be escaped (CSS Syntax Level 3, section 4.3.7).
fn without_markup(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    for (at, char) in css.char_indices() {
        let next = || css.as_bytes().get(at + 1).copied();
        if char == '<' && next().is_none_or(starts_markup) {
            out.push_str("\\3c ");
        } else {
            out.push(char);
        }
    }
    out
}
