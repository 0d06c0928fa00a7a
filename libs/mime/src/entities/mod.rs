//! Character references of HTML: the numeric ones, and the named ones of HTML 4 and a few more.

mod names;

use std::borrow::Cow;

/// Names that count without their semicolon, which browsers accept.
const BARE: &[&str] = &["amp", "lt", "gt", "quot", "nbsp", "copy", "reg"];

/// The longest reference, without its ampersand and semicolon.
const LONGEST: usize = 12;

/// `text` with its character references decoded.
#[must_use]
pub fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        rest = if let Some((char, length)) = reference(after) {
            out.push(char);
            &after[length..]
        } else {
            out.push('&');
            after
        };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character that `text` (after an ampersand) starts with, and how much it takes.
fn reference(text: &str) -> Option<(char, usize)> {
    if let Some(digits) = text.strip_prefix('#') {
        return numeric(digits).map(|(char, length)| (char, length + 1));
    }
    let end = text.bytes().take(LONGEST).take_while(u8::is_ascii_alphanumeric).count();
    if text[end..].starts_with(';') {
        return names::character(&text[..end]).map(|char| (char, end + 1));
    }
    let bare = BARE.iter().find(|name| text.starts_with(**name))?;
    // `&copy=1` in a link is a parameter (HTML Living Standard, section 13.2.5.73).
    let after = text[bare.len()..].bytes().next();
    let is_parameter = after.is_some_and(|byte| byte == b'=' || byte.is_ascii_alphanumeric());
    (!is_parameter).then_some((names::character(bare)?, bare.len()))
}

/// Digits may be led by any number of zeros, so their length has a bound that is generous.
fn numeric(text: &str) -> Option<(char, usize)> {
    let (digits, radix, prefix) = match text.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 1),
        None => (text, 10, 0),
    };
    let length =
        digits.bytes().take(64).take_while(|byte| char::from(*byte).is_digit(radix)).count();
    let code = u32::from_str_radix(digits[..length].trim_start_matches('0'), radix).unwrap_or(0);
    let semicolon = usize::from(digits[length..].starts_with(';'));
    (length > 0).then(|| (character(code), prefix + length + semicolon))
}

/// Browsers read 0x80 to 0x9F as windows-1252 (HTML Living Standard, section 13.2.5.80).
fn character(code: u32) -> char {
    match u8::try_from(code) {
        Ok(0) => char::REPLACEMENT_CHARACTER,
        Ok(byte @ 0x80..=0x9F) => {
            let text =
                encoding_rs::WINDOWS_1252.decode_without_bom_handling(&[byte]).0.into_owned();
            text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

/// `text` escaped for HTML, in content and in quoted attributes.
#[must_use]
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}
