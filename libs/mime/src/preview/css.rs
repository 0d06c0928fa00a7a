//! References to the message's parts within styles.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::urls;

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)url\(\s*(?:"(cid:[^"]*)"|'(cid:[^']*)'|(cid:[^"'()\s]*))\s*\)"#).ok()
});

/// `css` with the `url(cid:…)` that `resolve` knows replaced.
pub(super) fn rewrite<'a>(css: &'a str, resolve: &dyn Fn(&str) -> Option<String>) -> Cow<'a, str> {
    let Some(regex) = URL.as_ref() else { return Cow::Borrowed(css) };
    regex.replace_all(css, |found: &Captures<'_>| {
        let url = (1..=3).find_map(|group| found.get(group)).map_or("", |group| group.as_str());
        match urls::content_id(url).and_then(|id| resolve(&id)) {
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
