//! Styles: references to the message's parts, and what a browser could take for markup.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::parts::Parts;
use super::tokens::starts_markup;

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)url\(\s*(?:"(cid:[^"]*)"|'(cid:[^']*)'|(cid:[^"'()\s]*))\s*\)"#).ok()
});

static MARKS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"<!--|-->|<!\[CDATA\[|\]\]>").ok());

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

/// The content of a style element, so that no browser finds a tag in it: within SVG it is markup.
///
/// Comment and CDATA marks around a style say nothing to CSS and go. A `<` before a letter stands in
/// strings only, where it may be escaped (CSS Syntax Level 3, section 4.3.7).
pub(super) fn without_markup(css: &str) -> String {
    let css = MARKS.as_ref().map_or(Cow::Borrowed(css), |marks| marks.replace_all(css, ""));
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
