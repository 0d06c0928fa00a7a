//! Case folding, so that search and filters compare alike everywhere.

use caseless::Caseless;

/// `text` by Unicode default case folding (The Unicode Standard, section 3.13), each control
/// character as a blank.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        let folded = text.bytes().map(|byte| if byte.is_ascii_control() { b' ' } else { byte });
        return folded.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    }
    let blanked = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    blanked.default_case_fold().collect()
}
