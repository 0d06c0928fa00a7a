//! The plain text body as a page.

use super::output::{Output, in_plain_text, in_plain_value};
use crate::{bare, limits};

const STYLE: &str = "pre{white-space:pre-wrap;overflow-wrap:anywhere;\
    font:14px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;margin:1rem}";

/// `source` escaped, its links made clickable. At most 2 MiB are shown, and the page has at most 4
/// times as many bytes as those and 64 KiB.
#[must_use]
pub fn text(source: &str) -> String {
    let shown = limits::cut(source, limits::HTML);
    let mut out = Output::new(shown);
    out.push("<!doctype html><meta charset=\"utf-8\"><style>");
    out.push(STYLE);
    out.push("</style><pre>\n");
    let mut done = 0;
    for range in bare::urls(shown) {
        out.escaped(&shown[done..range.start], in_plain_text);
        out.whole(|out| write_link(&shown[range.clone()], out));
        done = range.end;
        if out.is_full {
            break;
        }
    }
    out.escaped(&shown[done..], in_plain_text);
    if out.is_full || shown.len() < source.len() {
        out.page.push_str("\n[The preview ends here.]");
    }
    out.page.push_str("</pre>");
    out.page
}

fn write_link(url: &str, out: &mut Output) {
    out.push("<a href=\"");
    out.escaped(&bare::target(url), in_plain_value);
    out.push("\" target=\"_blank\" rel=\"noopener noreferrer\">");
    out.escaped(url, in_plain_text);
    out.push("</a>");
}
