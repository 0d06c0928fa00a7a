//! What browsers make of elements by their names alone.

use std::borrow::Cow;

use crate::entities;
use crate::markup::Tag;

const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "legend",
    "li",
    "listing",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "plaintext",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tr",
    "ul",
    "xmp",
];
/// Those of them that may stand in a paragraph.
const IN_PARAGRAPHS: &[&str] = &["body", "br", "legend", "optgroup", "option"];
const CELLS: &[&str] = &["td", "th"];
/// Elements that nothing closes (HTML Living Standard, section 13.1.2), and those of earlier HTML.
const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img",
    "input", "keygen", "link", "meta", "param", "source", "track", "wbr",
];
const STRONG: &[&str] =
    &["b", "big", "code", "h1", "h2", "h3", "kbd", "pre", "samp", "strong", "tt"];
/// Elements that show something else than what is in them, or nothing (section 15.3.1).
const NOT_RENDERED: &[&str] = &["audio", "datalist", "meter", "progress", "template", "video"];
/// The same within SVG and `MathML`.
const NOT_RENDERED_FOREIGN: &[&str] =
    &["annotation", "annotation-xml", "defs", "desc", "metadata", "symbol"];
/// Elements of HTML also within SVG and `MathML` (section 13.2.6.5).
const NEVER_FOREIGN: &[&str] = &[
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "i",
    "img",
    "li",
    "listing",
    "menu",
    "meta",
    "nobr",
    "ol",
    "p",
    "pre",
    "ruby",
    "s",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tt",
    "u",
    "ul",
    "var",
];

pub(super) fn is_any(name: &str, names: &[&str]) -> bool {
    names.iter().any(|other| other.eq_ignore_ascii_case(name))
}

pub(super) fn is_void(name: &str) -> bool {
    is_any(name, VOID)
}

pub(super) fn is_strong(name: &str) -> bool {
    is_any(name, STRONG)
}

/// What stands between the text of the element and the text around it: blocks are on lines of
/// their own, cells a blank apart.
pub(super) fn separator(name: &str) -> Option<char> {
    if is_any(name, BLOCKS) { Some('\n') } else { is_any(name, CELLS).then_some(' ') }
}

/// Whether a paragraph that is open ends where the element starts or ends (section 13.2.6.4.7).
pub(super) fn ends_paragraph(name: &str) -> bool {
    separator(name).is_some() && !is_any(name, IN_PARAGRAPHS)
}

/// The elements that end where an element `name` starts, unless a container holds it within them.
pub(super) fn ended_by(name: &str) -> &'static [&'static str] {
    if is_any(name, CELLS) {
        CELLS
    } else if is_any(name, &["tr", "tbody", "thead", "tfoot"]) {
        &["td", "th", "tr"]
    } else if is_any(name, &["dd", "dt"]) {
        &["dd", "dt"]
    } else if is_any(name, &["li"]) {
        &["li"]
    } else {
        &[]
    }
}

/// Whether the element holds cells or items of its own.
pub(super) fn is_container(name: &str) -> bool {
    is_any(name, &["table", "ul", "ol", "dl", "menu", "dir"])
}

/// Whether the element starts SVG or `MathML`.
pub(super) fn is_foreign_root(name: &str) -> bool {
    is_any(name, &["svg", "math"])
}

/// Whether browsers show nothing of what is in the element; `in_foreign` within SVG and `MathML`.
pub(super) fn is_not_rendered(name: &str, in_foreign: bool) -> bool {
    is_any(name, NOT_RENDERED) || in_foreign && is_any(name, NOT_RENDERED_FOREIGN)
}

/// Whether nothing is in the element, not even what follows it; `in_foreign` as above.
pub(super) fn is_empty(tag: &Tag<'_>, in_foreign: bool) -> bool {
    let closes_itself = is_foreign_root(tag.name) || in_foreign && !is_any(tag.name, NEVER_FOREIGN);
    is_void(tag.name) || tag.is_empty && closes_itself
}

/// Whether browsers show what is in the element as it stands in the source.
pub(super) fn is_source(name: &str) -> bool {
    is_any(name, &["xmp", "plaintext"])
}

/// What browsers show of the content of an element that holds no markup.
pub(crate) fn shown_content<'a>(tag: &Tag<'_>, content: &'a str) -> Option<Cow<'a, str>> {
    if tag.is("textarea") {
        return Some(entities::decode(content));
    }
    is_source(tag.name).then_some(Cow::Borrowed(content))
}
