//! What the costliest bodies cost: a page of bounded length, in time that is linear in the body.

use std::cell::Cell;

use crate::preview::{Options, html, text};

/// A quarter of what is shown, so that an unoptimised build is quick.
const LONGEST: usize = 512 * 1024;
const MORE: usize = 64 * 1024 + 1_000;

/// `unit` again and again, with its number for `#`, as long as it may be.
fn many(start: &str, unit: &str) -> String {
    let mut body = String::with_capacity(LONGEST);
    body.push_str(start);
    let (before, after) = unit.split_once('#').unwrap_or((unit, ""));
    let mut number = 0;
    while body.len() + unit.len() < LONGEST {
        body.push_str(before);
        if unit.contains('#') {
            body.push_str(&number.to_string());
        }
        body.push_str(after);
        number += 1;
    }
    body
}

fn preview(source: &str) -> (String, usize) {
    let asked = Cell::new(0);
    let resolve = |_: &str| {
        asked.set(asked.get() + 1);
        Some("attachments/1?exp=1800000000&sig=0123456789".repeat(3))
    };
    (html(source, &Options { resolve_cid: &resolve }), asked.get())
}

/// With a pass over the rest for each tag, attribute, quote or reference, each of these takes
/// minutes.
#[test]
fn no_body_takes_more_than_linear_time_and_room() {
    let bodies = [
        many("<p ", "on#=x ") + ">",
        many("<p ", "a#=x ") + ">",
        many("<p ", "a#=x "),
        many("<p", "/"),
        many("<p ", "style=url(cid:1) "),
        many("<p ", "a=\""),
        many("<p a='", "x y=\"z\" "),
        many("", "<div>"),
        many("", "</div>"),
        many("", "<b><a href=x><table>"),
        many("", "<svg><title>"),
        many("", "<script>"),
        many("", "<noscript>"),
        many("<style>", "</styl "),
        many("<style>", "url(\"cid:"),
        many("<style>", "url(cid:1)"),
        many("<style>'", "url('cid:1 url(  "),
        many("", "<style>/*"),
        many("", "<!--"),
        many("<!--", "->"),
        many("<!--", "--"),
        many("", "<![CDATA["),
        many("", "<!doctype "),
        many("", "<"),
        many("", "</"),
        many("", "&"),
        many("", "\""),
        many("<p title='", "\"") + "'>",
        many("<p title='", "&") + "'>",
        many("<p style='", "url(cid:1)") + "'>",
        many("<img src='cid:", "%25") + "'>",
        many("<img srcset='", "cid:1,") + "'>",
        many("<animate values='", ";") + "'>",
        many("", "<img src=cid:1>"),
        many("", "http://a.b "),
        many("", "www."),
    ];
    for source in &bodies {
        let (page, asked) = preview(source);
        let start = &source[..40];
        assert!(page.len() <= 4 * source.len() + MORE, "{} bytes of {start}", page.len());
        assert!(asked <= source.len(), "asked {asked} times for {start}");
        let page = text(source);
        assert!(page.len() <= 4 * source.len() + MORE, "{} bytes of {start} as text", page.len());
        assert!(page.ends_with("</pre>"), "{start}");
    }
}

#[test]
fn a_page_that_would_be_too_long_ends_with_a_note() {
    let bodies = [
        many("", "<img src=cid:1>"),
        many("<img srcset='", "cid:1,") + "'>",
        many("<style>", "url(cid:1)"),
        many("<p style='", "a:url(cid:1);") + "'>",
        many("<p title='", "\"") + "'>",
    ];
    for source in bodies {
        let (page, _) = preview(&source);
        assert!(page.ends_with("The message itself is whole.</p>"), "{}", &source[..40]);
        let before = page.rsplit_once("<p>The preview ends here").unwrap().0;
        assert!(before.ends_with('>'), "{}", &before[before.len() - 80..]);
    }
    assert!(text(&many("", "http://a.b ")).ends_with("\n[The preview ends here.]</pre>"));
    let (page, _) = preview("<img src=cid:1>");
    assert!(page.ends_with("\">"), "{page}");
}

/// More than letters have is left out, and what comes after the tag is not.
#[test]
fn attributes_of_a_tag_are_bounded() {
    let (page, _) = preview(&(many("<p ", "a#=x ") + ">after"));
    assert_eq!(page.matches("=\"x\"").count(), 256);
    assert!(page.ends_with(">after"));
}
