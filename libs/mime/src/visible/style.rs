//! What the style of an element says of whether and how its text is seen.

use crate::entities;
use crate::markup::Tag;

/// The declarations of a style attribute that matter here.
#[derive(Debug, Default)]
pub(super) struct Style {
    /// Says `display`, which then wins over what browsers know of the element.
    displays: Option<bool>,
    /// Nothing in the element is seen, whatever its elements say.
    hides: bool,
    /// Whether text has a size, for the element and what inherits it.
    pub(super) has_size: Option<bool>,
    /// `visibility`, for the element and what inherits it.
    pub(super) is_visible: Option<bool>,
    /// Sets the text apart from what is around it.
    pub(super) is_striking: bool,
}

/// The properties that are read.
const PROPERTIES: &[&str] = &[
    "display",
    "visibility",
    "max-height",
    "opacity",
    "font-size",
    "font",
    "font-weight",
    "font-family",
    "letter-spacing",
];

impl Style {
    /// The style of `tag`, and what its other attributes say of the same.
    pub(super) fn of(tag: &Tag<'_>) -> Self {
        let mut style = Self::default();
        let (mut has_style, mut is_hidden, mut is_open, mut has_font_size) =
            (false, false, false, false);
        for (name, value) in tag.attributes() {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            // Of a name that comes twice, the first counts.
            if is("style") && !has_style {
                has_style = true;
                let declarations = entities::decode(value);
                declarations.split(';').for_each(|declaration| style.declare(declaration));
            }
            is_hidden |= is("hidden");
            is_open |= is("open");
            has_font_size |= is("size");
        }
        if has_font_size && style.has_size.is_none() && tag.is("font") {
            style.has_size = Some(true);
        }
        is_hidden |= !is_open && tag.is("dialog");
        style.hides |= !style.displays.unwrap_or(!is_hidden);
        style
    }

    /// Whether nothing in the element is seen.
    pub(super) fn hides_all(&self) -> bool {
        self.hides
    }

    fn declare(&mut self, declaration: &str) {
        let Some((property, value)) = declaration.split_once(':') else { return };
        let property = property.rsplit("*/").next().unwrap_or_default().trim();
        // `mso-hide:all` is not among them: it hides from one program what all others show.
        let known = PROPERTIES.iter().find(|known| known.eq_ignore_ascii_case(property));
        let Some(property) = known else { return };
        let value = squeezed(value);
        let value = value.strip_suffix("!important").unwrap_or(&value);
        if value.is_empty() {
            return;
        }
        match *property {
            "display" => self.displays = Some(value != "none"),
            "visibility" => match value {
                "hidden" | "collapse" => self.is_visible = Some(false),
                "visible" | "initial" => self.is_visible = Some(true),
                _ => {}
            },
            "max-height" | "opacity" => self.hides |= number(value) == Some(0.0),
            "font-size" => {
                self.has_size = size(value).or(self.has_size);
                self.is_striking |= number(value).is_some_and(|size| size >= 20.0);
            }
            "font" => {
                self.has_size = size_of_font(value).or(self.has_size);
                self.is_striking |= is_typewriter(value);
            }
            "font-weight" => {
                self.is_striking |= value.starts_with("bold")
                    || number(value).is_some_and(|weight| weight >= 600.0);
            }
            "font-family" => self.is_striking |= is_typewriter(value),
            _ => self.is_striking = true,
        }
    }
}

/// Without blanks, lower-case.
fn squeezed(text: &str) -> String {
    let chars = text.chars().filter(|char| !char.is_whitespace());
    chars.map(|char| char.to_ascii_lowercase()).collect()
}

fn is_typewriter(families: &str) -> bool {
    families.contains("monospace") || families.contains("courier")
}

/// The number that `value` starts with.
fn number(value: &str) -> Option<f32> {
    let end = value.find(|char: char| !(char.is_ascii_digit() || char == '.'));
    value[..end.unwrap_or(value.len())].parse().ok()
}

/// Whether text of that `font-size` has a size; none where that depends on the text around it.
fn size(value: &str) -> Option<bool> {
    let is_relative = |unit: &str| matches!(unit, "em" | "ex" | "ch" | "%");
    match number(value) {
        Some(0.0) => Some(false),
        Some(_) => {
            let unit = value.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
            (!is_relative(unit)).then_some(true)
        }
        None => (value.ends_with("small") || value.ends_with("large") || value == "medium")
            .then_some(true),
    }
}

/// The same of the shorthand `font`, in which the size is the first length.
fn size_of_font(value: &str) -> Option<bool> {
    if value.starts_with("0/") {
        return Some(false);
    }
    let unit = ["px", "pt", "rem"].iter().filter_map(|unit| value.find(unit)).min()?;
    let digits = |char: char| char.is_ascii_digit() || char == '.';
    let start = value[..unit].trim_end_matches(digits).len();
    size(&value[start..unit])
}
