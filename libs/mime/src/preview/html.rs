//! The HTML body, rewritten for a sandboxed frame.

use std::borrow::Cow;

use super::output::{self, Output, in_plain_text, in_text};
use super::parts::Parts;
use super::{attributes, css};
use crate::limits;
use crate::markup::{Tag, Token, tokens};

/// How the rewriting meets its surroundings.
pub struct Options<'a> {
    /// The URL of the part with that Content-ID (without angle brackets); none leaves the reference
    /// as it is. Asked with the reference as it stands, then without its percent-encoding.
    pub resolve_cid: &'a dyn Fn(&str) -> Option<String>,
}

/// Removes what runs, frames, redirects or loads; points `cid:` references to the message's parts;
/// opens links in a new tab without a referrer.
///
/// Everything else stays as sent but for its spelling, so that the page looks as in a mail client.
/// The page reads the same to a browser with and without scripts, within SVG and outside: a `<`
/// before a letter, `/`, `!` or `?` is in it only where a tag was written, and no element whose
/// content some browsers take for text holds one.
///
/// At most 2 MiB of `source` are shown, and the page has at most 4 times as many bytes as those and
/// 64 KiB. The time it takes is linear in them. Should the rewriting fail, the page shows the source
/// as text.
#[must_use]
pub fn html(source: &str, options: &Options<'_>) -> String {
    let shown = limits::cut(source, limits::HTML);
    let rewritten = crate::catch_panic(|| rewrite(shown, options));
    let mut page = rewritten.unwrap_or_else(|| super::text(shown));
    if shown.len() < source.len() {
        page.push_str("<p>The preview ends here: the message has more than 2 MiB of HTML.</p>");
    }
    page
}

const CHARSET: &str = "<meta charset=\"utf-8\">";
const TOO_LONG: &str = "<p>The preview ends here: it became more than four times as long as the \
    message. The message itself is whole.</p>";

fn rewrite(source: &str, options: &Options<'_>) -> String {
    let mut out = Output::new(source);
    let parts = Parts::new(options.resolve_cid, output::bound(source));
    let mut tokens = tokens(source).peekable();
    while tokens.next_if(is_blank).is_some() {}
    // The charset comes first, but after the doctype: without one in front browsers fall back to
    // their oldest layout rules.
    if let Some(Token::Doctype(doctype)) =
        tokens.next_if(|token| matches!(token, Token::Doctype(_)))
    {
        write_doctype(doctype, &mut out);
    }
    out.push(CHARSET);
    for token in tokens {
        write(&token, &parts, &mut out);
        if out.is_full {
            break;
        }
    }
    if out.is_full || parts.are_too_many() {
        out.page.push_str(TOO_LONG);
    }
    out.page
}

fn is_blank(token: &Token<'_>) -> bool {
    let is_blank = |char: char| char.is_whitespace() || char == '\u{FEFF}';
    match token {
        Token::Text(text) => text.chars().all(is_blank),
        token => matches!(token, Token::Comment(_)),
    }
}

fn write_doctype(doctype: &str, out: &mut Output) {
    if !doctype.contains('<') {
        out.push(&format!("<!{doctype}>"));
    }
}

fn write(token: &Token<'_>, parts: &Parts<'_>, out: &mut Output) {
    match token {
        Token::Text(text) => write_text(text, out),
        // Browsers ignore all but the first.
        Token::Doctype(_) | Token::Comment(_) => {}
        Token::Open(tag) => {
            if is_kept(tag.name) && !is_meta(tag) {
                out.whole(|out| write_tag(&plain_name(tag.name), tag, parts, out));
            }
        }
        Token::Close(name) => {
            if is_kept(name) {
                out.push(&format!("</{}>", plain_name(name)));
            }
        }
        Token::Whole(tag, content) => out.whole(|out| write_whole(tag, content, parts, out)),
    }
}

/// Writes text; what was left out before it does not join two texts to one character reference.
fn write_text(text: &str, out: &mut Output) {
    let joined = |byte: &u8| byte.is_ascii_alphanumeric() || b"#;".contains(byte);
    let first = text.bytes().next().filter(joined).filter(|_| out.ends_in_reference());
    if let Some(byte) = first {
        out.push(&format!("&#{byte};"));
    }
    out.escaped(&text[usize::from(first.is_some())..], in_text);
    let unfinished = text.rfind('&').map(|at| &text[at + 1..]);
    let is_open =
        |name: &str| name.bytes().all(|byte| byte == b'#' || byte.is_ascii_alphanumeric());
    if unfinished.is_some_and(is_open) {
        out.open_reference();
    }
}

/// Gone with everything in them, as far as browsers put anything in them.
const REMOVED: &[&str] = &[
    "script",
    "iframe",
    "noembed",
    "noframes",
    "base",
    "link",
    "embed",
    "frame",
    "xmp",
    "plaintext",
];
/// Gone, but what is in them is shown where a client does not support them.
const UNWRAPPED: &[&str] = &["object", "applet", "frameset", "noscript", "portal", "fencedframe"];

fn is_kept(name: &str) -> bool {
    let is_one_of = |names: &[&str]| names.iter().any(|gone| gone.eq_ignore_ascii_case(name));
    !is_one_of(REMOVED) && !is_one_of(UNWRAPPED)
}

/// A name that ends where browsers with other rules see its end. One that had to change is that of
/// no known element before and after.
fn plain_name(name: &str) -> Cow<'_, str> {
    let is_plain =
        |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | ':' | '.');
    if name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    name.chars().map(|char| if is_plain(char) { char } else { '_' }).collect()
}

/// Of what a page says about itself only how it is laid out is kept. The rest redirects, sets
/// cookies, another charset or referrers, or looks up names of hosts.
fn is_meta(tag: &Tag<'_>) -> bool {
    let name = tag.attribute("name").unwrap_or_default().to_ascii_lowercase();
    let is_layout = matches!(name.trim(), "viewport" | "color-scheme")
        && tag.attribute("http-equiv").is_none()
        && tag.attribute("charset").is_none();
    tag.is("meta") && !is_layout
}

fn write_tag(name: &str, tag: &Tag<'_>, parts: &Parts<'_>, out: &mut Output) {
    out.push("<");
    out.push(name);
    attributes::write(tag, parts, out);
    out.push(if tag.is_empty { "/>" } else { ">" });
}

fn write_whole(tag: &Tag<'_>, content: &str, parts: &Parts<'_>, out: &mut Output) {
    match tag.name.to_ascii_lowercase().as_str() {
        "style" => {
            write_tag("style", tag, parts, out);
            out.push(&css::element(content, parts));
            out.push("</style>");
        }
        name @ ("title" | "textarea") => {
            write_tag(name, tag, parts, out);
            out.escaped(content, in_text);
            out.push(&format!("</{name}>"));
        }
        "xmp" | "plaintext" => {
            write_tag("pre", tag, parts, out);
            out.escaped(content, in_plain_text);
            out.push("</pre>");
        }
        _ => {}
    }
}
