//! The HTML body, rewritten for a sandboxed frame.

use std::cell::RefCell;

use lol_html::html_content::{ContentType, Element, TextChunk};
use lol_html::{HandlerResult, RewriteStrSettings, element, rewrite_str, text as text_handler};

use super::{css, urls};
use crate::{entities, limits};

/// How the rewriting meets its surroundings.
pub struct Options<'a> {
    /// The URL of the part with that Content-ID (percent-decoded, without angle brackets); none
    /// leaves the reference as it is.
    pub resolve_cid: &'a dyn Fn(&str) -> Option<String>,
}

/// Removes what runs, frames, redirects or loads; points `cid:` references to the message's parts;
/// opens links in a new tab without a referrer.
///
/// Everything else stays as sent, so that the page looks as in a mail client. At most 2 MiB of
/// `source` are shown. Should the rewriter fail, the page shows the source as text.
#[must_use]
pub fn html(source: &str, options: &Options<'_>) -> String {
    let shown = limits::cut(source, limits::HTML);
    let rewritten = crate::caught(|| rewrite(shown, options)).flatten();
    let mut page = rewritten.unwrap_or_else(|| super::text(shown));
    if shown.len() < source.len() {
        page.push_str("<p>The preview ends here: the message has more than 2 MiB of HTML.</p>");
    }
    page
}

const CHARSET: &str = "<meta charset=\"utf-8\">";

fn rewrite(source: &str, options: &Options<'_>) -> Option<String> {
    let style = RefCell::new(String::new());
    let settings = RewriteStrSettings::new()
        .with_strict(false)
        .append_element_content_handler(element!("*", |element| {
            rewrite_element(element, options)
        }))
        .append_element_content_handler(text_handler!("style", |chunk| {
            rewrite_style(chunk, &mut style.borrow_mut(), options);
            Ok(())
        }));
    rewrite_str(source, settings).ok().map(|page| with_charset(&page))
}

/// The charset comes first, but after the doctype: without one in front browsers fall back to their
/// oldest layout rules.
fn with_charset(page: &str) -> String {
    let start =
        page.len() - page.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}').len();
    let has_doctype =
        page.get(start..start + 9).is_some_and(|text| text.eq_ignore_ascii_case("<!doctype"));
    let at = if has_doctype { page.find('>').map_or(0, |end| end + 1) } else { 0 };
    format!("{}{CHARSET}{}", &page[..at], &page[at..])
}

/// Gone with everything in them.
const REMOVED: &[&str] = &["script", "base", "iframe", "frame", "embed", "portal", "fencedframe"];
/// Gone, but what is in them is shown where a client does not support them.
const UNWRAPPED: &[&str] = &["object", "applet", "frameset", "noframes"];
/// Links that load something.
const LOADING: &[&str] = &[
    "preload",
    "prefetch",
    "dns-prefetch",
    "preconnect",
    "modulepreload",
    "prerender",
    "stylesheet",
    "import",
    "manifest",
    "icon",
];

fn rewrite_element(element: &mut Element<'_, '_>, options: &Options<'_>) -> HandlerResult {
    let name = element.tag_name();
    if REMOVED.contains(&name.as_str()) || is_loading(&name, element) || is_meta(&name, element) {
        element.remove();
    } else if UNWRAPPED.contains(&name.as_str()) {
        element.remove_and_keep_content();
    } else {
        rewrite_attributes(element, options)?;
        if matches!(name.as_str(), "a" | "area") {
            open_apart(element)?;
        }
    }
    Ok(())
}

fn decoded(element: &Element<'_, '_>, attribute: &str) -> Option<String> {
    element.get_attribute(attribute).map(|value| entities::decode(&value).into_owned())
}

fn is_loading(name: &str, element: &Element<'_, '_>) -> bool {
    let rel = decoded(element, "rel").unwrap_or_default().to_ascii_lowercase();
    name == "link" && rel.split_whitespace().any(|word| LOADING.contains(&word))
}

/// Redirects, cookies, and charsets other than the page's.
fn is_meta(name: &str, element: &Element<'_, '_>) -> bool {
    let equivalent = decoded(element, "http-equiv").unwrap_or_default().trim().to_ascii_lowercase();
    name == "meta"
        && (element.has_attribute("charset")
            || matches!(equivalent.as_str(), "refresh" | "set-cookie" | "content-type"))
}

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
    "values",
];

fn rewrite_attributes(element: &mut Element<'_, '_>, options: &Options<'_>) -> HandlerResult {
    let attributes: Vec<(String, String)> = element
        .attributes()
        .iter()
        .map(|attribute| (attribute.name(), attribute.value()))
        .collect();
    for (name, raw) in attributes {
        let value = entities::decode(&raw);
        let is_followed = FOLLOWED.contains(&name.as_str());
        if name.starts_with("on")
            || matches!(name.as_str(), "ping" | "srcdoc")
            || (is_followed && urls::is_dangerous(&value))
        {
            element.remove_attribute(&name);
        } else if let Some(rewritten) = rewritten(&name, &value, options) {
            element.set_attribute(&name, &rewritten.replace('&', "&amp;"))?;
        }
    }
    Ok(())
}

/// The attribute's new value, where it refers to a part.
fn rewritten(name: &str, value: &str, options: &Options<'_>) -> Option<String> {
    let resolve = options.resolve_cid;
    if SOURCES.contains(&name) {
        urls::content_id(value).and_then(|id| resolve(&id))
    } else if name == "srcset" || name == "imagesrcset" {
        let changed = srcset(value, resolve);
        (changed != value).then_some(changed)
    } else if name == "style" {
        let changed = css::rewrite(value, resolve);
        (changed != value).then(|| changed.into_owned())
    } else {
        None
    }
}

/// Candidates are `url descriptor`, split by commas (HTML Living Standard, section 4.8.4.2.1).
fn srcset(value: &str, resolve: &dyn Fn(&str) -> Option<String>) -> String {
    let candidates = value.split(',').map(|candidate| {
        let trimmed = candidate.trim();
        let (url, descriptor) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        match urls::content_id(url).and_then(|id| resolve(&id)) {
            Some(target) => {
                format!("{} {descriptor}", target.replace(',', "%2C")).trim_end().to_owned()
            }
            None => candidate.to_owned(),
        }
    });
    candidates.collect::<Vec<_>>().join(",")
}

fn open_apart(element: &mut Element<'_, '_>) -> HandlerResult {
    let is_within = decoded(element, "href").is_none_or(|href| href.trim().starts_with('#'));
    if is_within {
        element.remove_attribute("target");
    } else {
        element.set_attribute("target", "_blank")?;
        element.set_attribute("rel", "noopener noreferrer")?;
    }
    Ok(())
}

/// A style may come in several chunks; it is rewritten when it is whole.
fn rewrite_style(chunk: &mut TextChunk<'_>, style: &mut String, options: &Options<'_>) {
    style.push_str(chunk.as_str());
    if chunk.last_in_text_node() {
        let whole = std::mem::take(style);
        chunk.replace(&css::rewrite(&whole, options.resolve_cid), ContentType::Html);
    } else {
        chunk.remove();
    }
}
