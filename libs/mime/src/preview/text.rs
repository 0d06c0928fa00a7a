//! The plain text body as a page.

use crate::entities::escape_html;
use crate::{bare, limits};

const STYLE: &str = "pre{white-space:pre-wrap;overflow-wrap:anywhere;\
    font:14px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;margin:1rem}";

/// `source` escaped, its links made clickable. At most 2 MiB are shown.
#[must_use]
pub fn text(source: &str) -> String {
    let shown = limits::cut(source, limits::HTML);
    let mut body = String::with_capacity(shown.len() + shown.len() / 8);
    let mut done = 0;
    for range in bare::urls(shown) {
        let url = &shown[range.clone()];
        body.push_str(&escape_html(&shown[done..range.start]));
        let (target, url) = (escape_html(&bare::target(url)), escape_html(url));
        body.extend(["<a href=\"", &target, "\" target=\"_blank\" rel=\"noopener noreferrer\">"]);
        body.extend([&url, "</a>"]);
        done = range.end;
    }
    body.push_str(&escape_html(&shown[done..]));
    let cut = if shown.len() < source.len() { "\n[The preview ends here.]" } else { "" };
    format!("<!doctype html><meta charset=\"utf-8\"><style>{STYLE}</style><pre>\n{body}{cut}</pre>")
}
