//! Numbers that are certainly no codes: links, addresses, phones, dates, prices, colours.

use std::sync::LazyLock;

use regex::Regex;

use crate::links;

/// Stands for each byte of what is masked.
pub(super) const MASK: u8 = 1;

const MONTHS: &str = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|janv|févr|\
    avr|juin|juil|août|déc|ene|abr|ago|dic)";

// Repetitions are bounded: an open one that fails late would be tried again after every match.
static PATTERNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let dates = format!(
        r"\d{{1,2}}(?:st|nd|rd|th|\.|\sde)?\s{MONTHS}\pL{{0,9}}\.?,?(?:\sde)?\s\d{{4}}|{MONTHS}\pL{{0,9}}\.?\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}"
    );
    let patterns = [
        // Addresses.
        r"[a-z0-9._%+\-]{1,64}@[a-z0-9.\-]{1,255}",
        &dates,
        r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{4}年|\d{1,2}:\d{2}(?::\d{2})?",
        // Phones.
        r"\+\d[\d ().\-]{6,18}\d|\(\d{2,4}\)[ -]?\d{3,4}[ -]?\d{3,4}",
        r"(?-u:\b)(?:\d{3}[-. ]\d{3}[-. ]\d{4}|\d{3}-\d{4}|0\d{2,4}[ /-]\d{3,9}(?:[ -]\d{2,5}){0,4})(?-u:\b)",
        // Prices.
        r"[$€£¥₹₽]\s?\d[\d.,]{0,20}|\d[\d.,]{0,20}\s?(?:[$€£¥₹₽元円]|(?:usd|eur|gbp|chf|jpy|cny|inr|kr|dollars?|euros?)(?-u:\b))",
        // Colours and references by number.
        r"[#№]\s?[0-9a-f]{3,10}(?-u:\b)",
        // IP addresses and versions.
        r"\d{1,4}(?:\.\d{1,4}){2,3}",
    ];
    Regex::new(&format!("(?i)(?:{})", patterns.join("|"))).ok()
});

/// `text` with those numbers replaced, byte by byte.
pub(super) fn apply(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let patterns =
        PATTERNS.iter().flat_map(|regex| regex.find_iter(text)).map(|found| found.range());
    for range in patterns.chain(links::urls(text)) {
        bytes[range].fill(MASK);
    }
    bytes
}
