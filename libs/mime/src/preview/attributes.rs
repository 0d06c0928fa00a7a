//! Attributes: which stay, and what they become.

use std::borrow::Cow;

use super::css;
use super::output::{Output, in_plain_value, in_value};
use super::parts::Parts;
use super::urls;
use crate::entities;
use crate::markup::Tag;

/// Attributes that name an image or another part.
const SOURCES: &[&str] = &["src", "background", "poster", "href", "xlink:href", "data", "lowsrc"];
/// Attributes that a browser follows.
const FOLLOWED: &[&str] = &[
    "href",
    "xlink:href",
    "src",
    "action",
    "formaction",
    "background",
    "poster",
    "to",
    "from",
    "by",
];
/// Attributes that tell somebody, or hold a document of their own. A referrer would hold the
/// signature of the page's URL.
const REMOVED: &[&str] = &["ping", "attributionsrc", "srcdoc", "referrerpolicy"];

/// Writes the attributes of `tag` that stay.
pub(super) fn write(tag: &Tag<'_>, parts: &Parts<'_>, out: &mut Output) {
    let opens = tag.is("a") || tag.is("area");
    let mut leaves = false;
    for (name, raw) in tag.attributes() {
        let lower = name.to_ascii_lowercase();
        let value = entities::decode(raw);
        if is_kept(&lower, opens) && !is_dangerous(&lower, &value) {
            write_one((name, &lower), (raw, &value), parts, out);
            // A browser follows whichever is left, be it the second of a name.
            leaves |= is_target(&lower) && !value.trim().starts_with('#');
        }
    }
    if opens && leaves {
        out.push(" target=\"_blank\" rel=\"noopener noreferrer\"");
    }
}

fn is_kept(name: &str, opens: bool) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte);
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(is_plain)
        && !(name.starts_with("on") || REMOVED.contains(&name))
        && !(opens && matches!(name, "target" | "rel"))
}

/// Whether the attribute names where a link leads.
fn is_target(name: &str) -> bool {
    matches!(name, "href" | "xlink:href")
}

/// Writes an attribute: its name as sent and in lower case, and its value as sent and decoded.
fn write_one(
    (name, lower): (&str, &str),
    (raw, value): (&str, &str),
    parts: &Parts<'_>,
    out: &mut Output,
) {
    out.push(" ");
    out.push(name);
    let rewritten = rewritten(lower, value, parts);
    if raw.is_empty() {
        return;
    }
    out.push("=\"");
    match rewritten {
        Some(rewritten) => out.escaped(&rewritten, in_plain_value),
        None => out.escaped(raw, in_value),
    }
    out.push("\"");
}

fn is_dangerous(name: &str, value: &str) -> bool {
    match name {
        // Steps of an animation.
        "values" => value.split(';').any(urls::is_dangerous),
        name => FOLLOWED.contains(&name) && urls::is_dangerous(value),
    }
}

/// The attribute's new value, where it refers to a part.
fn rewritten(name: &str, value: &str, parts: &Parts<'_>) -> Option<String> {
    match name {
        name if SOURCES.contains(&name) => parts.url(value),
        "srcset" | "imagesrcset" => srcset(value, parts),
        "style" => match css::rewrite(value, parts) {
            Cow::Borrowed(_) => None,
            Cow::Owned(changed) => Some(changed),
        },
        _ => None,
    }
}

/// Candidates are `url descriptor`, split by commas (HTML Living Standard, section 4.8.4.2.1).
fn srcset(value: &str, parts: &Parts<'_>) -> Option<String> {
    let mut changed = false;
    let mut candidate = |candidate: &str| {
        let trimmed = candidate.trim();
        let (url, descriptor) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        let Some(target) = parts.url(url) else { return candidate.to_owned() };
        changed = true;
        format!("{} {descriptor}", target.replace(',', "%2C")).trim_end().to_owned()
    };
    let all: Vec<String> = value.split(',').map(&mut candidate).collect();
    changed.then(|| all.join(","))
}
