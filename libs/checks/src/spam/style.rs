//! What inline styles say of how text is seen.

use trapline_mime::{decode_html, markup::Tag};

/// The text that a reader meets at a place of the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TextStyle {
    /// Not shown at all, or so small that nobody reads it.
    pub(super) is_hidden: bool,
    /// Pixels.
    pub(super) size: f32,
    colour: Option<u32>,
    background: Option<u32>,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self { is_hidden: false, size: 16.0, colour: None, background: None }
    }
}

/// Largest text that counts as hidden, in pixels.
const INVISIBLE: f32 = 2.0;

impl TextStyle {
    /// The style within an element of this style.
    pub(super) fn within(self, tag: &Tag<'_>) -> Self {
        let mut style = self;
        for (name, value) in tag.attributes() {
            if name.eq_ignore_ascii_case("style") {
                let value = decode_html(value).to_ascii_lowercase();
                value.split(';').for_each(|declaration| style.declare(declaration));
            } else if name.eq_ignore_ascii_case("bgcolor") {
                style.background = colour(value.trim()).or(style.background);
            } else if name.eq_ignore_ascii_case("color") && tag.is("font") {
                style.colour = colour(value.trim()).or(style.colour);
            }
        }
        let is_camouflaged = style.colour.is_some() && style.colour == style.background;
        style.is_hidden |= style.size <= INVISIBLE || is_camouflaged;
        style
    }

    fn declare(&mut self, declaration: &str) {
        let Some((property, value)) = declaration.split_once(':') else { return };
        let value = value.trim().trim_end_matches("!important").trim_end();
        match property.trim() {
            "display" => self.is_hidden |= value == "none",
            "visibility" => self.is_hidden |= value == "hidden",
            "opacity" => self.is_hidden |= value.parse() == Ok(0.0_f32),
            "font-size" => self.size = pixels(value, self.size).unwrap_or(self.size),
            "color" => self.colour = colour(value).or(self.colour),
            "background-color" | "background" => {
                self.background = colour(value).or(self.background);
            }
            _ => {}
        }
    }
}

/// A size in pixels; `around` is that of the text around it.
fn pixels(value: &str, around: f32) -> Option<f32> {
    let end = value.find(|char: char| !(char.is_ascii_digit() || char == '.'));
    let (number, unit) = value.split_at(end.unwrap_or(value.len()));
    let number: f32 = number.parse().ok()?;
    match unit.trim() {
        "px" => Some(number),
        "pt" => Some(number * 4.0 / 3.0),
        "em" => Some(number * around),
        "rem" => Some(number * 16.0),
        "%" => Some(number / 100.0 * around),
        "" if number == 0.0 => Some(0.0),
        _ => None,
    }
}

/// A colour as red, green and blue: names of the two that text is hidden with, hex and `rgb()`.
fn colour(value: &str) -> Option<u32> {
    let value = value.to_ascii_lowercase();
    match value.as_str() {
        "white" => return Some(0xFF_FF_FF),
        "black" => return Some(0),
        _ => {}
    }
    if let Some(hex) = value.strip_prefix('#') {
        let long = match hex.len() {
            3 => hex.chars().flat_map(|digit| [digit, digit]).collect(),
            _ => hex.to_owned(),
        };
        return (long.len() == 6).then(|| u32::from_str_radix(&long, 16).ok())?;
    }
    let inner = value.strip_prefix("rgb(")?.strip_suffix(')')?;
    let mut parts = inner.split([',', ' ']).filter(|part| !part.is_empty());
    let mut channel = || parts.next()?.parse::<u8>().ok();
    Some(u32::from_be_bytes([0, channel()?, channel()?, channel()?]))
}
