//! Numbers that are certainly no codes: links, addresses, phones, dates, prices, colours.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::vocabulary::words;
use crate::bare;

/// Stands for each byte of what is masked.
pub(super) const MASK: u8 = 1;

const MONTHS: &str = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|janv|févr|\
    avr|juin|juil|août|déc|ene|abr|ago|dic)";

// Repetitions are bounded: an open one that fails late would be tried again after every match.
static PATTERNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let dates = format!(
        r"\d{{1,2}}(?:st|nd|rd|th|\.|\sde)?\s{MONTHS}\pL{{0,9}}\.?,?(?:\sde)?\s\d{{4}}|{MONTHS}\pL{{0,9}}\.?\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}"
    );
    words(&[
        &dates,
        r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{4}年|\d{1,2}:\d{2}(?::\d{2})?",
        // Phones.
        r"\+\d[\d ().\-]{6,18}\d|\(\d{2,4}\)[ -]?\d{3,4}[ -]?\d{3,4}",
        r"(?-u:\b)(?:\d{3}[-. ]\d{3}[-. ]\d{4}|\d{3}-\d{4}|0\d{1,4}(?:[ /-]\d{5,9}|(?:[ /-]\d{2,5}){2,5}))(?-u:\b)",
        // Prices.
        r"[$€£¥₹₽₩₪₫]\s?\d[\d.,]{0,20}|\d[\d.,]{0,20}\s?(?:[$€£¥₹₽₩₪₫元円]|(?:usd|eur|gbp|chf|jpy|cny|inr|kr|dollars?|euros?)(?-u:\b))",
        // Colours and references by number.
        r"[#№]\s?[0-9a-f]{3,10}(?-u:\b)",
        // IP addresses and versions.
        r"\d{1,4}(?:\.\d{1,4}){2,3}",
    ])
});

/// `text` with those numbers replaced, byte by byte.
pub(super) fn apply(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let patterns =
        PATTERNS.iter().flat_map(|regex| regex.find_iter(text)).map(|found| found.range());
    for range in patterns.chain(addresses(text)).chain(bare::urls(text)) {
        bytes[range].fill(MASK);
    }
    bytes
}

/// Mail addresses, found from the `@`: a pattern for them would try every letter of a long line as
/// the start of one.
fn addresses(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'@', bytes).filter_map(|at| {
        let local = bytes[..at].iter().rev().take(64).take_while(|byte| is_local(**byte)).count();
        let domain = bytes[at + 1..].iter().take(255).take_while(|byte| is_domain(**byte)).count();
        (local > 0 && domain > 0).then(|| at - local..at + 1 + domain)
    })
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._%+-".contains(&byte)
}

fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".-".contains(&byte)
}
