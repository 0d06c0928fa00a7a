//! Case folding, so that search and filters compare alike everywhere.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;

/// `text` as a compatibility caseless match compares it (The Unicode Standard, section 3.13, D146):
/// letters composed or not, wide or ligated are one; each control character is a blank.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        let folded = text.bytes().map(|byte| if byte.is_ascii_control() { b' ' } else { byte });
        return folded.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    }
    let blanked = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    let folded = blanked.nfd().default_case_fold().nfkc();
    // What was taken apart may have another case, such as the letters of a unit's sign.
    folded.default_case_fold().nfkc().collect()
}
